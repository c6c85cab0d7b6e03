#include <ka_block.h>
#include <ka_elements.h>
#include <kernelarena.h>

constexpr int THREADS = 256;

template <typename T>
__global__ void __launch_bounds__(THREADS)
    softmax_kernel(const T *x, T *y, int64_t columns, int64_t x_row, int64_t x_column) {
  const T *row = x + blockIdx.x * x_row;
  float most = -INFINITY;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS)
    most = ka_maximum()(most, ka_load(row[column * x_column]));
  most = ka_block_reduce<THREADS>(most, -INFINITY, ka_maximum());
  float sum = 0;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS)
    sum += expf(ka_load(row[column * x_column]) - most);
  sum = ka_block_reduce<THREADS>(sum, 0.0f, ka_sum());
  for (int64_t column = threadIdx.x; column < columns; column += THREADS)
    ka_store(&y[blockIdx.x * columns + column], expf(ka_load(row[column * x_column]) - most) / sum);
}

template <typename T>
static void launch(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  softmax_kernel<T><<<(unsigned)x->size[0], THREADS, 0, (hipStream_t)stream>>>(
      (const T *)x->data, (T *)y->data, x->size[1], x->stride[0], x->stride[1]);
}

int softmax(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, stream);
  return hipGetLastError();
}
