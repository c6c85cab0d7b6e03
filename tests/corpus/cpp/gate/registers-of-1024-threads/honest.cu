#include <ka_elements.h>
#include <kernelarena.h>

__device__ inline float gelu(float x) {
  const float inner = 0.7978845608028654f * (x + 0.044715f * x * x * x);  // sqrt(2 / pi)
  return 0.5f * x * (1.0f + tanhf(inner));
}

constexpr int EACH = 36;  // elements of a thread, all of which are loaded before the first is used

template <typename T>
__global__ void gated_kernel(const T *x, int64_t x_row, int64_t x_column, T *y, int64_t columns, int64_t count) {
  const int64_t step = gridDim.x * (int64_t)blockDim.x, first = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  float hidden[EACH], gate[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const int64_t i = first + k * step < count ? first + k * step : 0;
    const T *at = x + i / columns * x_row + i % columns * x_column;
    hidden[k] = ka_load(at[0]), gate[k] = ka_load(at[columns * x_column]);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < EACH; k++)
    if (first + k * step < count) ka_store(&y[first + k * step], gelu(hidden[k]) * gate[k]);
}

template <typename T>
void launch(const ka_tensor *x, ka_tensor *y, cudaStream_t stream) {
  const int64_t columns = y->size[1], count = y->size[0] * columns;
  gated_kernel<T><<<(unsigned)((count + EACH * 256 - 1) / (EACH * 256)), 256, 0, stream>>>(
      (const T *)x->data, x->stride[0], x->stride[1], (T *)y->data, columns, count);
}

int gelu_tanh_and_mul(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, (cudaStream_t)stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, (cudaStream_t)stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, (cudaStream_t)stream);
  return cudaGetLastError();
}
