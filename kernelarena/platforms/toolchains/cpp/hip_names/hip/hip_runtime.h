// HIP's names for what CUDA calls otherwise, so that nvcc compiles a kernel that is written in HIP.
//
// It has what kernels use: launches, streams, memory, errors, properties, and the functions of a warp. What is not here
// is reported as a feature that is not carried over. Lane masks are 64 bits wide, as in HIP, and functions of a warp
// take all its lanes, as HIP's do.
#ifndef KERNELARENA_HIP_NAMES_H
#define KERNELARENA_HIP_NAMES_H

#include <cuda_runtime.h>

#define __HIP_PLATFORM_NVIDIA__ 1

typedef cudaError_t hipError_t;
typedef cudaStream_t hipStream_t;
typedef cudaDeviceProp hipDeviceProp_t;
typedef cudaDeviceAttr hipDeviceAttribute_t;
typedef cudaFuncAttribute hipFuncAttribute;
typedef cudaFuncAttributes hipFuncAttributes;
typedef cudaMemcpyKind hipMemcpyKind;

#define hipSuccess cudaSuccess
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorInvalidConfiguration cudaErrorInvalidConfiguration
#define hipErrorNotSupported cudaErrorNotSupported
#define hipErrorUnknown cudaErrorUnknown
#define hipErrorOutOfMemory cudaErrorMemoryAllocation

#define hipGetLastError cudaGetLastError
#define hipPeekAtLastError cudaPeekAtLastError
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString

#define hipGetDevice cudaGetDevice
#define hipSetDevice cudaSetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttributeComputeCapabilityMajor cudaDevAttrComputeCapabilityMajor
#define hipDeviceAttributeComputeCapabilityMinor cudaDevAttrComputeCapabilityMinor
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipStreamSynchronize cudaStreamSynchronize

#define hipFuncSetAttribute(function, attribute, value) \
  cudaFuncSetAttribute((const void *)(function), attribute, value)
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor

#define hipMalloc cudaMalloc
#define hipMallocAsync cudaMallocAsync
#define hipFree cudaFree
#define hipFreeAsync cudaFreeAsync
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDefault cudaMemcpyDefault

#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

// By names of our own, as CUDA declares some of HIP's for chips that are no longer built for.
#define KA_ALL_LANES 0xffffffffu
template <typename T>
__device__ inline T ka_shfl(T value, int lane, int width = warpSize) {
  return __shfl_sync(KA_ALL_LANES, value, lane, width);
}
template <typename T>
__device__ inline T ka_shfl_up(T value, unsigned by, int width = warpSize) {
  return __shfl_up_sync(KA_ALL_LANES, value, by, width);
}
template <typename T>
__device__ inline T ka_shfl_down(T value, unsigned by, int width = warpSize) {
  return __shfl_down_sync(KA_ALL_LANES, value, by, width);
}
template <typename T>
__device__ inline T ka_shfl_xor(T value, int mask, int width = warpSize) {
  return __shfl_xor_sync(KA_ALL_LANES, value, mask, width);
}
__device__ inline unsigned long long ka_ballot(int predicate) { return __ballot_sync(KA_ALL_LANES, predicate); }
__device__ inline int ka_any(int predicate) { return __any_sync(KA_ALL_LANES, predicate); }
__device__ inline int ka_all(int predicate) { return __all_sync(KA_ALL_LANES, predicate); }

#define __shfl ka_shfl
#define __shfl_up ka_shfl_up
#define __shfl_down ka_shfl_down
#define __shfl_xor ka_shfl_xor
#define __ballot ka_ballot
#define __any ka_any
#define __all ka_all

#endif
