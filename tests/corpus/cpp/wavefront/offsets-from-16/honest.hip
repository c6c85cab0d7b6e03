#include <ka_elements.h>
#include <kernelarena.h>

__device__ inline float warp_max(float v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v = fmaxf(v, __shfl_down(v, offset));
  return v;
}

__device__ inline float warp_sum(float v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down(v, offset);
  return v;
}

__device__ float block_max(float v) {
  __shared__ float partial[32];
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  v = warp_max(v);
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  if (warp == 0) v = warp_max(lane < blockDim.x / warpSize ? partial[lane] : -INFINITY);
  if (threadIdx.x == 0) partial[0] = v;
  __syncthreads();
  v = partial[0];
  __syncthreads();
  return v;
}

__device__ float block_sum(float v) {
  __shared__ float partial[32];
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  v = warp_sum(v);
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  if (warp == 0) v = warp_sum(lane < blockDim.x / warpSize ? partial[lane] : 0.0f);
  if (threadIdx.x == 0) partial[0] = v;
  __syncthreads();
  v = partial[0];
  __syncthreads();
  return v;
}

template <typename T>
__global__ void softmax_kernel(const T *x, int64_t x_row, int64_t x_column, T *y, int columns) {
  const T *row = x + blockIdx.x * x_row;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, ka_load(row[i * x_column]));
  most = block_max(most);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(ka_load(row[i * x_column]) - most);
  sum = block_sum(sum);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    ka_store(&y[blockIdx.x * (int64_t)columns + i], expf(ka_load(row[i * x_column]) - most) / sum);
}

template <typename T>
void launch(const ka_tensor *x, ka_tensor *y, hipStream_t stream) {
  const int rows = x->size[0], columns = x->size[1];
  softmax_kernel<T><<<rows, 256, 0, stream>>>((const T *)x->data, x->stride[0], x->stride[1], (T *)y->data, columns);
}

int softmax(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, (hipStream_t)stream);
  return hipGetLastError();
}
