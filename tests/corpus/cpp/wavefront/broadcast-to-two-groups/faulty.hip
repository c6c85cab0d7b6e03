#include <ka_elements.h>
#include <kernelarena.h>

constexpr int ROWS = 8;  // of a block of 256 threads: 32 of them for each row

template <typename T>
__global__ void softmax_kernel(const T *x, int64_t x_row, int64_t x_column, T *y, int rows, int columns) {
  const int lane = threadIdx.x % 32, at = blockIdx.x * ROWS + threadIdx.x / 32;
  const T *row = x + (at < rows ? at : 0) * x_row;
  float most = -INFINITY, sum = 0;
  for (int i = lane; i < columns; i += 32) most = fmaxf(most, ka_load(row[i * x_column]));
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_down(most, offset, 32));
  most = __shfl(most, 0);
  for (int i = lane; i < columns; i += 32) sum += expf(ka_load(row[i * x_column]) - most);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down(sum, offset, 32);
  sum = __shfl(sum, 0);
  for (int i = lane; at < rows && i < columns; i += 32)
    ka_store(&y[at * (int64_t)columns + i], expf(ka_load(row[i * x_column]) - most) / sum);
}

template <typename T>
void launch(const ka_tensor *x, ka_tensor *y, hipStream_t stream) {
  const int rows = x->size[0], columns = x->size[1];
  softmax_kernel<T><<<(rows + ROWS - 1) / ROWS, 256, 0, stream>>>((const T *)x->data, x->stride[0], x->stride[1],
                                                                  (T *)y->data, rows, columns);
}

int softmax(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, (hipStream_t)stream);
  return hipGetLastError();
}
