// Half precision by the host's own instructions.
#pragma once
#include <stdint.h>

#if defined(__aarch64__)
struct __half {
  __fp16 value;
};
inline float __half2float(__half half) { return half.value; }
inline __half __float2half(float value) { return {(__fp16)value}; }
#else
#include <immintrin.h>
struct __half {
  uint16_t bits;
};
inline float __half2float(__half half) { return _cvtsh_ss(half.bits); }
inline __half __float2half(float value) { return {_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)}; }
#endif
