// Elements of the floating-point dtypes that every chip has, read and written as float; the same on all of them.
#pragma once
#include <stdint.h>

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif

// bfloat16 is the upper half of a float; the vendors' headers for it differ, its bits do not.
struct ka_bfloat {
  uint16_t bits;
};

__device__ inline float ka_load(float value) { return value; }
__device__ inline float ka_load(__half value) { return __half2float(value); }
__device__ inline float ka_load(ka_bfloat value) { return __uint_as_float((uint32_t)value.bits << 16); }

__device__ inline void ka_store(float *at, float value) { *at = value; }
__device__ inline void ka_store(__half *at, float value) { *at = __float2half(value); }
__device__ inline void ka_store(ka_bfloat *at, float value) {
  const uint32_t bits = __float_as_uint(value);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  at->bits = is_nan ? 0x7fc0 : (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);  // to nearest, ties to even
}
