// PyTorch's macros: checks, and a lambda for each dtype.
#pragma once

#define TORCH_CHECK(holds, ...) \
  if (!(holds)) throw c10::Error(ka::said(#holds, c10::str(__VA_ARGS__)))
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_CHECK_VALUE TORCH_CHECK
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_NOT_IMPLEMENTED TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ERROR(...) throw c10::Error(c10::str(__VA_ARGS__))
#define TORCH_WARN(...) (void)c10::str(__VA_ARGS__)
#define TORCH_WARN_ONCE TORCH_WARN
#define C10_CUDA_CHECK(call)                                          \
  do {                                                                \
    const auto ka_status = (call);                                    \
    if (ka_status != 0) throw c10::Error(KA_RT(GetErrorString)(ka_status));   \
  } while (0)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_HIP_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(KA_RT(GetLastError)())
#define C10_HIP_KERNEL_LAUNCH_CHECK C10_CUDA_KERNEL_LAUNCH_CHECK
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE inline
#define C10_RESTRICT __restrict__
#define C10_LAUNCH_BOUNDS_1 __launch_bounds__
#define C10_LAUNCH_BOUNDS_2 __launch_bounds__
#define TORCH_API
#define C10_UNUSED

namespace ka {
inline std::string said(const char *condition, const std::string &why) {
  return why.empty() ? "Expected " + std::string(condition) + " to be true, but got false." : why;
}
}  // namespace ka

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                     \
  [&] {                                                                                         \
    const char *const ka_name = NAME;                                                           \
    const c10::ScalarType ka_type = TYPE;                                                       \
    switch (ka_type) {                                                                          \
      __VA_ARGS__                                                                               \
      default: throw c10::Error(c10::str("\"", ka_name, "\" not implemented for ", ka_type));   \
    }                                                                                           \
  }()
#define AT_DISPATCH_CASE(wanted, ...)                               \
  case wanted: {                                                    \
    using scalar_t [[maybe_unused]] = typename ka::Cpp<wanted>::type; \
    return __VA_ARGS__();                                           \
  }

namespace ka {
template <c10::ScalarType> struct Cpp;
#define KA_CPP(name, T) \
  template <> struct Cpp<c10::ScalarType::name> { using type = T; };
KA_CPP(Byte, uint8_t) KA_CPP(Char, int8_t) KA_CPP(Short, int16_t) KA_CPP(Int, int32_t) KA_CPP(Long, int64_t)
KA_CPP(Half, c10::Half) KA_CPP(Float, float) KA_CPP(Double, double) KA_CPP(Bool, bool) KA_CPP(BFloat16, c10::BFloat16)
#undef KA_CPP
}  // namespace ka

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)               \
  AT_DISPATCH_CASE(c10::ScalarType::Double, __VA_ARGS__)   \
  AT_DISPATCH_CASE(c10::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)               \
  AT_DISPATCH_CASE(c10::ScalarType::Byte, __VA_ARGS__)     \
  AT_DISPATCH_CASE(c10::ScalarType::Char, __VA_ARGS__)     \
  AT_DISPATCH_CASE(c10::ScalarType::Int, __VA_ARGS__)      \
  AT_DISPATCH_CASE(c10::ScalarType::Long, __VA_ARGS__)     \
  AT_DISPATCH_CASE(c10::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)          \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)   \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(c10::ScalarType::Half, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...)                                            \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                                     AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...)                                            \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                                     AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...)                           \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE(c10::ScalarType::Half, __VA_ARGS__) \
                                     AT_DISPATCH_CASE(c10::ScalarType::BFloat16, __VA_ARGS__))
