#include <ka_block.h>
#include <ka_elements.h>
#include <kernelarena.h>

constexpr int THREADS = 256;

// A row and how to walk along it.
template <typename T>
struct Row {
  const T *data;
  int64_t step;
  __device__ float operator[](int64_t column) const { return ka_load(data[column * step]); }
};

// The variance is taken from deviations, as the difference of two squares loses all digits where the mean is large.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    layer_norm_kernel(const T *x, int64_t x_row, int64_t x_column, Row<T> weight, Row<T> bias, float eps, T *y,
                      int64_t columns) {
  const Row<T> row = {x + blockIdx.x * x_row, x_column};
  float sum = 0;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS) sum += row[column];
  const float mean = ka_block_reduce<THREADS>(sum, 0.0f, ka_sum()) / columns;
  float squares = 0;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS) {
    const float deviation = row[column] - mean;
    squares += deviation * deviation;
  }
  const float variance = ka_block_reduce<THREADS>(squares, 0.0f, ka_sum()) / columns;
  const float inverse = 1.0f / sqrtf(variance + eps);
  for (int64_t column = threadIdx.x; column < columns; column += THREADS)
    ka_store(&y[blockIdx.x * columns + column], (row[column] - mean) * inverse * weight[column] + bias[column]);
}

template <typename T>
static void launch(const ka_tensor *x, const ka_tensor *weight, const ka_tensor *bias, double eps, ka_tensor *y,
                   ka_stream stream) {
  layer_norm_kernel<T><<<(unsigned)x->size[0], THREADS, 0, (hipStream_t)stream>>>(
      (const T *)x->data, x->stride[0], x->stride[1], Row<T>{(const T *)weight->data, weight->stride[0]},
      Row<T>{(const T *)bias->data, bias->stride[0]}, (float)eps, (T *)y->data, x->size[1]);
}

int layer_norm(const ka_tensor *x, const ka_tensor *weight, const ka_tensor *bias, double eps, ka_tensor *y,
               ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, weight, bias, eps, y, stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, weight, bias, eps, y, stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, weight, bias, eps, y, stream);
  return hipGetLastError();
}
