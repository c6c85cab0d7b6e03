#include <ka_elements.h>
#include <kernelarena.h>

__device__ inline float gelu(float x) {
  const float inner = 0.7978845608028654f * (x + 0.044715f * x * x * x);  // sqrt(2 / pi)
  return 0.5f * x * (1.0f + tanhf(inner));
}

template <typename T>
__global__ void __launch_bounds__(256)
    gated_kernel(const T *x, T *y, int64_t rows, int64_t half, int64_t x_row, int64_t x_column) {
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const int64_t column = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (column < half) {
      const T *at = x + row * x_row + column * x_column;
      ka_store(&y[row * half + column], gelu(ka_load(at[0])) * ka_load(at[half * x_column]));
    }
  }
}

template <typename T>
static void launch(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  const int64_t rows = y->size[0], half = y->size[1];
  const dim3 grid((unsigned)((half + 255) / 256), (unsigned)(rows < 32768 ? rows : 32768));
  gated_kernel<T><<<grid, 256, 0, (hipStream_t)stream>>>((const T *)x->data, (T *)y->data, rows, half, x->stride[0],
                                                         x->stride[1]);
}

int gelu_tanh_and_mul(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, stream);
  return hipGetLastError();
}
