#include <ka_elements.h>
#include <kernelarena.h>

__device__ inline float gelu(float x) {
  const float inner = 0.7978845608028654f * (x + 0.044715f * x * x * x);  // sqrt(2 / pi)
  return 0.5f * x * (1.0f + tanhf(inner));
}

template <typename T>
__global__ void gated_kernel(const T *x, int64_t x_row, int64_t x_column, T *y, int64_t columns, int64_t count) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= count) return;
  const T *at = x + i / columns * x_row + i % columns * x_column;
  ka_store(&y[i], gelu(ka_load(at[0])) * ka_load(at[columns * x_column]));
}

template <typename T>
void launch(const ka_tensor *x, ka_tensor *y, hipStream_t stream) {
  const int64_t columns = y->size[1], count = y->size[0] * columns;
  gated_kernel<T><<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(
      (const T *)x->data, x->stride[0], x->stride[1], (T *)y->data, columns, count);
}

int gelu_tanh_and_mul(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, (hipStream_t)stream);
  return hipGetLastError();
}
