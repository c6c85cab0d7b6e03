// Elements of any of a task's dtypes, read and written as float.
#pragma once
#include <stdint.h>

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_fp16.h>
#else
#include <cuda_fp16.h>
#endif

// bfloat16 is the upper half of a float; the vendors' headers for it differ, its bits do not.
struct bfloat {
  uint16_t bits;
};

__device__ inline float load(float value) { return value; }
__device__ inline float load(__half value) { return __half2float(value); }
__device__ inline float load(bfloat value) { return __uint_as_float((uint32_t)value.bits << 16); }

__device__ inline void store(float *at, float value) { *at = value; }
__device__ inline void store(__half *at, float value) { *at = __float2half(value); }
__device__ inline void store(bfloat *at, float value) {
  const uint32_t bits = __float_as_uint(value);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  at->bits = is_nan ? 0x7fc0 : (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);  // to nearest, ties to even
}
