// Reductions over the threads of a block that ask the chip how many lanes a warp (wavefront) has.
#pragma once

template <typename T>
__device__ inline T ka_shuffle_xor(T value, int lanes) {
#if defined(__NVCC__)
  return __shfl_xor_sync(0xffffffffu, value, lanes);
#else
  return __shfl_xor(value, lanes);
#endif
}

// Combines the values of all lanes of a warp, each of which gets the result.
template <typename T, typename Combine>
__device__ T ka_warp_reduce(T value, Combine combine) {
  for (int lanes = warpSize / 2; lanes > 0; lanes /= 2) value = combine(value, ka_shuffle_xor(value, lanes));
  return value;
}

// Combines the values of all THREADS of a block, a multiple of 64, each of which gets the result. `neutral` changes
// nothing that it is combined with.
template <int THREADS, typename T, typename Combine>
__device__ T ka_block_reduce(T value, T neutral, Combine combine) {
  __shared__ T of_warp[THREADS / 32];  // room for the most warps, where they are narrowest
  const int lane = threadIdx.x % warpSize;
  value = ka_warp_reduce(value, combine);
  if (lane == 0) of_warp[threadIdx.x / warpSize] = value;
  __syncthreads();
  value = ka_warp_reduce(lane < THREADS / warpSize ? of_warp[lane] : neutral, combine);
  __syncthreads();  // before the next reduction writes
  return value;
}

struct ka_sum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

// The larger of two, or a nan if there is one.
struct ka_maximum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return b > a || b != b ? b : a;
  }
};
