// What is asked of the framework, and how a function of the kernel's is called: the second half of ka_torch.h.
#pragma once

namespace ka {

// From C++.
inline Value give(const at::Tensor &tensor) {
  Value made;
  if (tensor.defined()) made.kind = TENSOR, made.integer = tensor.held->told.handle;
  return made;
}
inline Value integer(int64_t value, Kind kind = INTEGER) {
  Value made;
  return made.kind = kind, made.integer = value, made;
}
inline Value give(bool value) { return integer(value, BOOLEAN); }
inline Value give(int value) { return integer(value); }
inline Value give(unsigned value) { return integer(value); }
inline Value give(int64_t value) { return integer(value); }
inline Value give(long long value) { return integer(value); }
inline Value give(size_t value) { return integer((int64_t)value); }
inline Value give(double value) {
  Value made;
  return made.kind = NUMBER, made.number = value, made;
}
inline Value give(float value) { return give((double)value); }
inline Value give(c10::ScalarType type) { return integer((int64_t)type, DTYPE); }
inline Value give(c10::Device on) { return integer(on.is_cuda(), ON_DEVICE); }
inline Value give(c10::DeviceType on) { return give(c10::Device(on)); }
inline Value give(c10::MemoryFormat format) { return integer((int64_t)format, FORMAT); }
inline Value give(const c10::Scalar &value) { return value.whole ? give(value.integer) : give(value.number); }
inline Value give(std::nullopt_t) { return {}; }
inline Value give(c10::IntArrayRef all) {
  Value made;
  return made.kind = INTEGERS, made.count = (int32_t)all.size(), made.data = all.data(), made;
}
inline Value give(const std::vector<int64_t> &all) { return give(c10::IntArrayRef(all)); }
inline Value give(unsigned long long value) { return integer((int64_t)value); }
inline Value give(const std::string &text);
inline Value give(const char *text) {
  Value made;
  return made.kind = TEXT, made.data = text, made;
}
inline Value give(const std::string &text) { return give(text.c_str()); }
template <typename T> Value give(const std::optional<T> &value) { return value ? give(*value) : Value(); }

inline void put(std::vector<Value> &all, const c10::TensorOptions &options) {
  if (options.type != c10::ScalarType::Undefined) all.push_back(give(options.type));
  if (options.placed) all.push_back(give(options.on));
}
template <typename T> void put(std::vector<Value> &all, const T &value) { all.push_back(give(value)); }
inline void put(std::vector<Value> &all, const std::vector<at::Tensor> &tensors);

inline std::vector<at::Tensor> ask(const char *function, std::vector<Value> given) {
  Value answers[ANSWERS];
  const int32_t count = host.ask(function, given.data(), (int32_t)given.size(), answers);
  if (count < 0) throw Raised();
  std::vector<at::Tensor> made;
  for (int32_t i = 0; i < count; i++)
    made.push_back(answers[i].kind == TENSOR ? at::Tensor(hold(answers[i].integer)) : at::Tensor());
  return made;
}

template <typename... Given>
at::Tensor one(const char *function, const Given &...given) {
  std::vector<Value> values;
  (put(values, given), ...);
  return ask(function, std::move(values)).at(0);
}

inline void put(std::vector<Value> &all, const std::vector<at::Tensor> &tensors) {
  listed.emplace_back();
  for (const auto &tensor : tensors) listed.back().push_back(tensor.held->told.handle);
  Value made;
  made.kind = TENSORS, made.count = (int32_t)tensors.size(), made.data = listed.back().data();
  all.push_back(made);
}

}  // namespace ka

namespace at {

template <typename T>
T Tensor::item() const {
  std::vector<ka::Value> given{ka::give(*this)};
  ka::Value answers[ka::ANSWERS];
  if (ka::host.ask("Tensor.item", given.data(), 1, answers) < 0) throw ka::Raised();
  return answers[0].kind == ka::NUMBER ? (T)answers[0].number : (T)answers[0].integer;
}

#define KA_FUNCTIONS(FUNCTION)                                                                                       \
  FUNCTION(abs) FUNCTION(add) FUNCTION(addmm) FUNCTION(arange) FUNCTION(bmm) FUNCTION(clamp) FUNCTION(cumsum)        \
  FUNCTION(div) FUNCTION(einsum) FUNCTION(empty) FUNCTION(empty_like) FUNCTION(empty_strided) FUNCTION(exp)          \
  FUNCTION(eye) FUNCTION(full) FUNCTION(full_like) FUNCTION(gelu) FUNCTION(layer_norm) FUNCTION(linear)              \
  FUNCTION(log) FUNCTION(log_softmax) FUNCTION(matmul) FUNCTION(mean) FUNCTION(mm) FUNCTION(mul) FUNCTION(ones)      \
  FUNCTION(ones_like) FUNCTION(pow) FUNCTION(rand) FUNCTION(rand_like) FUNCTION(randn) FUNCTION(randn_like)          \
  FUNCTION(relu) FUNCTION(rsqrt) FUNCTION(sigmoid) FUNCTION(silu) FUNCTION(softmax) FUNCTION(sqrt) FUNCTION(sub)     \
  FUNCTION(sum) FUNCTION(tanh) FUNCTION(transpose) FUNCTION(where) FUNCTION(zeros) FUNCTION(zeros_like)              \
  FUNCTION(conv2d) FUNCTION(conv1d) FUNCTION(max_pool2d) FUNCTION(avg_pool2d) FUNCTION(dot) FUNCTION(mv) FUNCTION(outer)
#define KA_FUNCTION(name)                                                                                   \
  template <typename... Given> Tensor name(const Given &...given) { return ka::one("torch." #name, given...); } \
  template <typename... Given> Tensor name(std::initializer_list<int64_t> sizes, const Given &...given) {   \
    return ka::one("torch." #name, IntArrayRef(sizes), given...);                                           \
  }
KA_FUNCTIONS(KA_FUNCTION)
#undef KA_FUNCTION
inline Tensor cat(const std::vector<Tensor> &all, int64_t dim = 0) { return ka::one("torch.cat", all, dim); }
inline Tensor stack(const std::vector<Tensor> &all, int64_t dim = 0) { return ka::one("torch.stack", all, dim); }

#define KA_ARITHMETIC(op, name)                                                                            \
  inline Tensor operator op(const Tensor &a, const Tensor &b) { return ka::one("torch." #name, a, b); }    \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>                              \
  Tensor operator op(const Tensor &a, T b) { return ka::one("torch." #name, a, b); }                       \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>                              \
  Tensor operator op(T a, const Tensor &b) { return ka::one("operator." #name, a, b); }
KA_ARITHMETIC(+, add)
KA_ARITHMETIC(-, sub)
KA_ARITHMETIC(*, mul)
KA_ARITHMETIC(/, div)
#undef KA_ARITHMETIC

using TensorList = ArrayRef<Tensor>;
constexpr auto kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int,
               kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float,
               kDouble = ScalarType::Double, kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16,
               kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong, kFloat16 = kHalf,
               kFloat32 = kFloat, kFloat64 = kDouble, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn,
               kFloat8_e5m2 = ScalarType::Float8_e5m2, kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz,
               kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz;
constexpr auto kCUDA = DeviceType::CUDA, kCPU = DeviceType::CPU;
struct Layout {};
constexpr Layout kStrided;

inline TensorOptions dtype(ScalarType type) { return type; }
inline TensorOptions device(Device on) { return on; }

// What a number is accumulated in (ATen/AccumulateType.h, ATen/OpMathType.h).
template <typename T> struct OpMathType { using type = T; };
template <> struct OpMathType<Half> { using type = float; };
template <> struct OpMathType<BFloat16> { using type = float; };
template <typename T> using opmath_type = typename OpMathType<T>::type;
template <typename T, bool> using acc_type = opmath_type<T>;

}  // namespace at

// Streams and guards: there is one device, and the harness's stream is the current one.
namespace ka {

inline void *current_stream;
struct Stream {
  KA_RT(Stream_t) stream() const { return (KA_RT(Stream_t))current_stream; }
  operator KA_RT(Stream_t)() const { return stream(); }
  int device_index() const { return 0; }
  void synchronize() const {}
};
inline Stream stream(int = -1) { return {}; }
struct Guard {
  template <typename... On> explicit Guard(const On &...) {}
};

}  // namespace ka

#define KA_RUNTIME(vendor, Vendor)                                                                   \
  namespace c10::vendor {                                                                            \
  using ka::Guard;                                                                                   \
  using Vendor##Stream = ka::Stream;                                                                 \
  using Vendor##Guard = ka::Guard;                                                                   \
  using Optional##Vendor##Guard = ka::Guard;                                                         \
  inline ka::Stream getCurrent##Vendor##Stream(int = -1) { return {}; }                              \
  inline ka::Stream getDefault##Vendor##Stream(int = -1) { return {}; }                              \
  }                                                                                                  \
  namespace at::vendor {                                                                             \
  using namespace c10::vendor;                                                                       \
  }
KA_RUNTIME(cuda, CUDA)
KA_RUNTIME(hip, HIP)
#undef KA_RUNTIME
namespace at::cuda {
using OptionalCUDAGuard = ka::Guard;
inline auto *getCurrentDeviceProperties() {
  static KA_PROPERTIES told;
  static const bool asked = KA_RT(GetDeviceProperties)(&told, 0) == 0;
  return (void)asked, &told;
}
}  // namespace at::cuda
namespace at {
using DeviceGuard = ka::Guard;
using OptionalDeviceGuard = ka::Guard;
inline Device device_of(const Tensor &tensor) { return tensor.device(); }
}  // namespace at
namespace c10 {
using DeviceGuard = ka::Guard;
using OptionalDeviceGuard = ka::Guard;
}  // namespace c10

namespace torch {
using namespace at;
namespace cuda { using namespace at::cuda; }
}  // namespace torch

#include "ka_macros.h"
#include "ka_module.h"
