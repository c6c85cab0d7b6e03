#include <ka_elements.h>
#include <kernelarena.h>

template <typename T>
__global__ void cumsum_kernel(const T *x, int64_t x_row, int64_t x_column, T *y, int columns) {
  __shared__ float totals[32];
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  float carried = 0;
  for (int start = 0; start < columns; start += blockDim.x) {
    const int column = start + threadIdx.x;
    float sum = column < columns ? ka_load(x[blockIdx.x * x_row + column * x_column]) : 0.0f;
    for (int distance = 1; distance < 32; distance *= 2) {
      const float below = __shfl_up(sum, distance);
      if (lane >= distance) sum += below;
    }
    if (lane == warpSize - 1) totals[warp] = sum;
    __syncthreads();
    float before = carried;
    for (int w = 0; w < blockDim.x / warpSize; w++) {
      if (w < warp) before += totals[w];
      carried += totals[w];
    }
    __syncthreads();
    if (column < columns) ka_store(&y[blockIdx.x * (int64_t)columns + column], before + sum);
  }
}

template <typename T>
void launch(const ka_tensor *x, ka_tensor *y, hipStream_t stream) {
  const int rows = x->size[0], columns = x->size[1];
  cumsum_kernel<T><<<rows, 256, 0, stream>>>((const T *)x->data, x->stride[0], x->stride[1], (T *)y->data, columns);
}

int cumsum(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, (hipStream_t)stream);
  return hipGetLastError();
}
