// PyTorch's sixteen-bit numbers, as kernels use them under the name of scalar_t: stored in two bytes, computed in float.
#pragma once
#include <stdint.h>
#include <string.h>

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif

#define KA_BOTH __host__ __device__ inline

namespace ka {

template <typename To, typename From>
KA_BOTH To bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "of one size");
  To made;
  memcpy(&made, &value, sizeof made);
  return made;
}

KA_BOTH float half_to_float(uint16_t half) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return __half2float(bits<__half>(half));
#else
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 31, digits = half & 1023;
  if (exponent == 31) return bits<float>(sign | 0x7f800000u | digits << 13);
  if (exponent) return bits<float>(sign | (exponent + 112) << 23 | digits << 13);
  const float small = digits * 5.9604644775390625e-8f;  // 2^-24
  return sign ? -small : small;
#endif
}

KA_BOTH uint16_t float_to_half(float value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return bits<uint16_t>(__float2half(value));
#else
  const uint32_t all = bits<uint32_t>(value), sign = all >> 16 & 0x8000, size = all & 0x7fffffffu;
  if (size > 0x7f800000u) return sign | 0x7e00;
  if (size >= 0x477ff000u) return sign | 0x7c00;  // rounds to infinity
  if (size < 0x38800000u) {                        // subnormal: an addition rounds to multiples of 2^-24
    const float shifted = bits<float>(size) + 0.5f;
    return sign | (bits<uint32_t>(shifted) - 0x3f000000u);
  }
  return sign | ((size + 0xfff + (size >> 13 & 1) - 0x38000000u) >> 13);
#endif
}

KA_BOTH float bfloat_to_float(uint16_t value) { return bits<float>((uint32_t)value << 16); }

KA_BOTH uint16_t float_to_bfloat(float value) {  // to nearest, ties to even
  const uint32_t all = bits<uint32_t>(value);
  return (all & 0x7fffffffu) > 0x7f800000u ? 0x7fc0 : (all + 0x7fff + (all >> 16 & 1)) >> 16;
}

}  // namespace ka

namespace c10 {

struct alignas(2) Half {
  uint16_t x;
  Half() = default;
  KA_BOTH Half(float value) : x(ka::float_to_half(value)) {}
  KA_BOTH Half(const __half &value) : x(ka::bits<uint16_t>(value)) {}
  KA_BOTH operator float() const { return ka::half_to_float(x); }
  KA_BOTH operator __half() const { return ka::bits<__half>(x); }
};

struct alignas(2) BFloat16 {
  uint16_t x;
  BFloat16() = default;
  KA_BOTH BFloat16(float value) : x(ka::float_to_bfloat(value)) {}
  KA_BOTH operator float() const { return ka::bfloat_to_float(x); }
};

// As in c10: two of a kind give that kind, one beside a float or double gives the wider, one beside an integer stays.
// Comparisons are those of float.
#define KA_OPERATOR(T, op)                                                             \
  KA_BOTH T operator op(const T &a, const T &b) { return (float)a op (float)b; }       \
  KA_BOTH T &operator op##=(T &a, const T &b) { return a = (float)a op (float)b; }     \
  KA_BOTH float &operator op##=(float &a, const T &b) { return a = a op (float)b; }    \
  KA_BOTH float operator op(const T &a, float b) { return (float)a op b; }             \
  KA_BOTH float operator op(float a, const T &b) { return a op (float)b; }             \
  KA_BOTH double operator op(const T &a, double b) { return (float)a op b; }           \
  KA_BOTH double operator op(double a, const T &b) { return a op (float)b; }           \
  KA_BOTH T operator op(const T &a, int b) { return (float)a op (float)b; }            \
  KA_BOTH T operator op(int a, const T &b) { return (float)a op (float)b; }            \
  KA_BOTH T operator op(const T &a, int64_t b) { return (float)a op (float)b; }        \
  KA_BOTH T operator op(int64_t a, const T &b) { return (float)a op (float)b; }
#define KA_NUMBER(T)                                                                                      \
  KA_OPERATOR(T, +)                                                                                       \
  KA_OPERATOR(T, -)                                                                                       \
  KA_OPERATOR(T, *)                                                                                       \
  KA_OPERATOR(T, /)                                                                                       \
  KA_BOTH T operator-(const T &a) { return -(float)a; }
KA_NUMBER(Half)
KA_NUMBER(BFloat16)
#undef KA_NUMBER
#undef KA_OPERATOR

}  // namespace c10
