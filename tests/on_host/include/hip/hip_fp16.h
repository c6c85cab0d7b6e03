// Half precision by the host's own instructions.
#pragma once
#include <hip/hip_runtime.h>

#if defined(__aarch64__)
struct __half {
  __fp16 value;
};
inline float __half2float(__half half) { return half.value; }
inline __half __float2half(float value) { return {(__fp16)value}; }
#else
struct __half {
  uint16_t bits;
};
inline float __half2float(__half half) {
  float value = __uint_as_float(half.bits);
  asm("vcvtph2ps %0, %0" : "+x"(value));
  return value;
}
inline __half __float2half(float value) {
  asm("vcvtps2ph $0, %0, %0" : "+x"(value));  // to nearest
  return {(uint16_t)__float_as_uint(value)};
}
#endif
