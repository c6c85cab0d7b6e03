// Stands in for the part of PyTorch's C++ interface that generated kernels use, so that a kernel compiles in two or three
// seconds and needs no build of PyTorch for the chip. Tensors stay Python's; what is computed on them is asked of it.
//
// Names and meanings are PyTorch's (docs.pytorch.org, "PyTorch C++ API"). What is not here is named by the compiler, and
// the compile gate says that it cannot tell (docs/cpp.md).
#pragma once
#include <math.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <sstream>

#include "ka_numbers.h"
#include "ka_values.h"

#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
#define KA_RT(name) hip##name
#define KA_PROPERTIES hipDeviceProp_t
#else
#define KA_RT(name) cuda##name
#define KA_PROPERTIES cudaDeviceProp
#endif

namespace c10 {

enum class ScalarType : int8_t {  // PyTorch's numbers
  Byte = 0, Char = 1, Short = 2, Int = 3, Long = 4, Half = 5, Float = 6, Double = 7, Bool = 11, BFloat16 = 15,
  Float8_e5m2 = 23, Float8_e4m3fn = 24, Float8_e5m2fnuz = 25, Float8_e4m3fnuz = 26, Undefined = -1
};
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

inline std::ostream &operator<<(std::ostream &out, ScalarType type) { return out << "dtype " << (int)type; }

template <typename T> struct CppTypeToScalarType;
#define KA_TYPE(T, name) \
  template <> struct CppTypeToScalarType<T> { static constexpr ScalarType value = ScalarType::name; };
KA_TYPE(uint8_t, Byte) KA_TYPE(int8_t, Char) KA_TYPE(int16_t, Short) KA_TYPE(int32_t, Int) KA_TYPE(int64_t, Long)
KA_TYPE(Half, Half) KA_TYPE(BFloat16, BFloat16) KA_TYPE(float, Float) KA_TYPE(double, Double) KA_TYPE(bool, Bool)
#undef KA_TYPE

struct Device {
  DeviceType kind = DeviceType::CUDA;
  Device(DeviceType type = DeviceType::CUDA, int = 0) : kind(type) {}
  DeviceType type() const { return kind; }
  int index() const { return is_cuda() ? 0 : -1; }
  bool is_cuda() const { return kind == DeviceType::CUDA; }
  bool is_cpu() const { return !is_cuda(); }
  bool operator==(const Device &other) const { return kind == other.kind; }
  bool operator!=(const Device &other) const { return kind != other.kind; }
};
inline std::ostream &operator<<(std::ostream &out, const Device &on) { return out << (on.is_cuda() ? "cuda:0" : "cpu"); }

template <typename T>
struct ArrayRef {
  const T *first = nullptr;
  size_t count = 0;
  ArrayRef() = default;
  ArrayRef(const T *data, size_t length) : first(data), count(length) {}
  ArrayRef(const T &one) : first(&one), count(1) {}
  ArrayRef(const std::vector<T> &all) : first(all.data()), count(all.size()) {}
  ArrayRef(std::initializer_list<T> all) { first = all.begin(), count = all.size(); }  // an argument outlives the call
  const T *begin() const { return first; }
  const T *end() const { return first + count; }
  const T *data() const { return first; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  const T &operator[](size_t at) const { return first[at]; }
  const T &front() const { return first[0]; }
  const T &back() const { return first[count - 1]; }
  ArrayRef slice(size_t from, size_t length) const { return {first + from, length}; }
  std::vector<T> vec() const { return {begin(), end()}; }
  bool operator==(const ArrayRef &other) const { return count == other.count && std::equal(begin(), end(), other.first); }
  bool operator!=(const ArrayRef &other) const { return !(*this == other); }
};
using IntArrayRef = ArrayRef<int64_t>;

template <typename T>
std::ostream &operator<<(std::ostream &out, const ArrayRef<T> &all) {
  out << "[";
  for (size_t i = 0; i < all.size(); i++) out << (i ? ", " : "") << all[i];
  return out << "]";
}

struct TensorOptions {
  ScalarType type = ScalarType::Undefined;
  bool placed = false;
  Device on;
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : type(dtype) {}
  TensorOptions(Device device) : placed(true), on(device) {}
  TensorOptions(DeviceType device) : placed(true), on(device) {}
  TensorOptions dtype(ScalarType wanted) const { auto made = *this; return made.type = wanted, made; }
  TensorOptions device(Device wanted) const { auto made = *this; return made.placed = true, made.on = wanted, made; }
  TensorOptions device(DeviceType wanted, int = 0) const { return device(Device(wanted)); }
  TensorOptions requires_grad(bool) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  template <typename Layout> TensorOptions layout(Layout) const { return *this; }
  ScalarType dtype() const { return type; }
  Device device() const { return on; }
};

struct Scalar {
  double number = 0;
  int64_t integer = 0;
  bool whole = false;
  Scalar(double value = 0) : number(value) {}
  Scalar(float value) : number(value) {}
  Scalar(int value) : number(value), integer(value), whole(true) {}
  Scalar(int64_t value) : number((double)value), integer(value), whole(true) {}
  template <typename T> T to() const { return whole ? (T)integer : (T)number; }
  double toDouble() const { return number; }
  float toFloat() const { return (float)number; }
  int64_t toLong() const { return whole ? integer : (int64_t)number; }
};

using std::nullopt;
using std::optional;
using std::string;
struct Error : std::runtime_error { using runtime_error::runtime_error; };

template <typename... Said>
std::string str(const Said &...said) {
  std::ostringstream text;
  (void)(text << ... << said);
  return text.str();
}

}  // namespace c10

namespace at {

using namespace c10;

template <typename T> struct DefaultPtrTraits { typedef T *PtrType; };
template <typename T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };

// A tensor as a kernel is handed it, with its sizes and strides.
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits, typename Index = int64_t>
struct GenericPackedTensorAccessor {
  T *at;
  Index sizes_[N], strides_[N];
  KA_BOTH Index size(int dim) const { return sizes_[dim]; }
  KA_BOTH Index stride(int dim) const { return strides_[dim]; }
  KA_BOTH T *data() const { return at; }
  KA_BOTH auto operator[](Index index) const {
    if constexpr (N == 1) {
      return ka_element(at + index * strides_[0]);
    } else {
      GenericPackedTensorAccessor<T, N - 1, Traits, Index> inner{at + index * strides_[0], {}, {}};
      for (size_t dim = 1; dim < N; dim++) inner.sizes_[dim - 1] = sizes_[dim], inner.strides_[dim - 1] = strides_[dim];
      return inner;
    }
  }

 private:
  struct Element {  // what a reference to an element does
    T *to;
    KA_BOTH operator T &() const { return *to; }
    KA_BOTH T &operator=(const T &value) const { return *to = value; }
    KA_BOTH T &operator=(const Element &other) const { return *to = *other.to; }
    template <typename V> KA_BOTH T &operator+=(const V &value) const { return *to += value; }
    template <typename V> KA_BOTH T &operator-=(const V &value) const { return *to -= value; }
    template <typename V> KA_BOTH T &operator*=(const V &value) const { return *to *= value; }
  };
  KA_BOTH static Element ka_element(T *to) { return {to}; }
};
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;

class Tensor;

struct TypeProperties {  // what x.type() was before x.scalar_type()
  ScalarType scalar;
  bool cuda;
  operator ScalarType() const { return scalar; }
  ScalarType scalarType() const { return scalar; }
  bool is_cuda() const { return cuda; }
};

}  // namespace at

namespace ka {

inline std::vector<at::Tensor> ask(const char *function, std::vector<Value> given);
template <typename... Given> at::Tensor one(const char *function, const Given &...given);

}  // namespace ka

namespace at {

// Methods that go to the framework's of the same name, whatever they are given.
#define KA_METHODS(METHOD)                                                                                             \
  METHOD(abs) METHOD(add) METHOD(add_) METHOD(addmm) METHOD(all) METHOD(amax) METHOD(amin) METHOD(any) METHOD(argmax)  \
  METHOD(argmin) METHOD(bmm) METHOD(clamp) METHOD(clamp_) METHOD(clamp_max) METHOD(clamp_min) METHOD(clone)            \
  METHOD(contiguous) METHOD(copy_) METHOD(cos) METHOD(cpu) METHOD(cuda) METHOD(cumsum) METHOD(detach) METHOD(div)      \
  METHOD(div_) METHOD(eq) METHOD(erf) METHOD(exp) METHOD(expand) METHOD(expand_as) METHOD(fill_) METHOD(flatten)       \
  METHOD(floor) METHOD(ge) METHOD(gt) METHOD(index_select) METHOD(le) METHOD(log) METHOD(lt) METHOD(masked_fill)       \
  METHOD(matmul) METHOD(max) METHOD(mean) METHOD(min) METHOD(mm) METHOD(mul) METHOD(mul_) METHOD(mv) METHOD(narrow)    \
  METHOD(ne) METHOD(neg) METHOD(norm) METHOD(permute) METHOD(pow) METHOD(prod) METHOD(reciprocal) METHOD(relu)         \
  METHOD(relu_) METHOD(repeat) METHOD(reshape) METHOD(reshape_as) METHOD(round) METHOD(rsqrt) METHOD(scatter_)         \
  METHOD(select) METHOD(sigmoid) METHOD(sin) METHOD(softmax) METHOD(sqrt) METHOD(square) METHOD(squeeze) \
  METHOD(std) METHOD(sub) METHOD(sub_) METHOD(sum) METHOD(t) METHOD(tanh) METHOD(to) METHOD(transpose)                 \
  METHOD(type_as) METHOD(unfold) METHOD(unsqueeze) METHOD(var) METHOD(view) METHOD(view_as) METHOD(where)              \
  METHOD(zero_) METHOD(log_softmax) METHOD(gather) METHOD(index_add_) METHOD(triu) METHOD(tril) METHOD(flip) METHOD(roll)

class Tensor {
 public:
  ka::Held held;
  Tensor() = default;
  explicit Tensor(ka::Held tensor) : held(std::move(tensor)) {}

  bool defined() const { return held != nullptr; }
  int64_t dim() const { return of().dim; }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return {of().size, (size_t)of().dim}; }
  IntArrayRef strides() const { return {of().stride, (size_t)of().dim}; }
  int64_t size(int64_t dim) const { return of().size[wrapped(dim)]; }
  int64_t stride(int64_t dim) const { return of().stride[wrapped(dim)]; }
  int64_t numel() const {
    int64_t all = 1;
    for (int64_t length : sizes()) all *= length;
    return all;
  }
  ScalarType scalar_type() const { return (ScalarType)of().dtype; }
  ScalarType dtype() const { return scalar_type(); }
  TypeProperties type() const { return {scalar_type(), is_cuda()}; }
  Device device() const { return of().on_device ? DeviceType::CUDA : DeviceType::CPU; }
  int get_device() const { return device().index(); }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
  bool is_cuda() const { return of().on_device; }
  bool is_cpu() const { return !is_cuda(); }
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const { return of().contiguous; }
  bool is_floating_point() const {
    const int type = of().dtype;
    return (5 <= type && type <= 7) || type == 15 || type >= 23;
  }
  bool requires_grad() const { return false; }
  bool is_same(const Tensor &other) const { return held == other.held; }
  int64_t element_size() const {
    static const int8_t widths[] = {1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 1, 0, 0, 0, 2};
    return of().dtype < 16 ? widths[of().dtype] : 1;
  }
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const { return (size_t)(numel() * element_size()); }
  int64_t storage_offset() const { return 0; }

  void *data_ptr() const {
    if (!held->touched) held->touched = true, ka::touched.push_back(held);
    return of().data;
  }
  const void *const_data_ptr() const { return data_ptr(); }
  void *mutable_data_ptr() const { return data_ptr(); }
  template <typename T> T *data_ptr() const {
    using Plain = std::remove_const_t<T>;
    if (CppTypeToScalarType<Plain>::value != scalar_type())
      throw Error(str("expected a tensor of ", CppTypeToScalarType<Plain>::value, " but found ", scalar_type()));
    return (T *)data_ptr();
  }
  template <typename T> const T *const_data_ptr() const { return data_ptr<T>(); }
  template <typename T> T *mutable_data_ptr() const { return data_ptr<T>(); }
  template <typename T> T *data() const { return data_ptr<T>(); }
  template <typename T> T item() const;

  template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, Traits> packed_accessor32() const { return packed<T, N, Traits, int32_t>(); }
  template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, Traits> packed_accessor64() const { return packed<T, N, Traits, int64_t>(); }

#define KA_METHOD(name)                                                                                           \
  template <typename... Given> Tensor name(const Given &...given) const { return ka::one("Tensor." #name, *this, given...); } \
  template <typename... Given> Tensor name(std::initializer_list<int64_t> sizes, const Given &...given) const {   \
    return ka::one("Tensor." #name, *this, IntArrayRef(sizes), given...);                                         \
  }
  KA_METHODS(KA_METHOD)
#undef KA_METHOD
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor operator-() const { return neg(); }
  Tensor toType(ScalarType type) const { return to(type); }

 private:
  const ka::Described &of() const {
    if (!held) throw Error("an undefined tensor has no such thing");
    return held->told;
  }
  int64_t wrapped(int64_t at) const {
    if (at < -dim() || at >= dim())
      throw Error(str("Dimension out of range (expected to be in range of [", -dim(), ", ", dim() - 1, "], but got ", at, ")"));
    return at < 0 ? at + dim() : at;
  }
  template <typename T, size_t N, template <typename> class Traits, typename Index>
  GenericPackedTensorAccessor<T, N, Traits, Index> packed() const {
    if ((int64_t)N != dim()) throw Error(str("expected ", N, " dims but tensor has ", dim()));
    GenericPackedTensorAccessor<T, N, Traits, Index> made{data_ptr<T>(), {}, {}};
    for (size_t i = 0; i < N; i++) made.sizes_[i] = (Index)of().size[i], made.strides_[i] = (Index)of().stride[i];
    return made;
  }
};

}  // namespace at

#include "ka_calls.h"
