#include <ka_elements.h>
#include <kernelarena.h>

constexpr int THREADS = 256;

template <typename Combine>
__device__ float block_reduce(float value, Combine combine) {
  __shared__ float shared[THREADS];
  shared[threadIdx.x] = value;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
  }
  __syncthreads();
  const float all = shared[0];
  __syncthreads();
  return all;
}

template <typename T>
__global__ void softmax_kernel(const T *x, int64_t x_row, int64_t x_column, T *y, int columns) {
  const T *row = x + blockIdx.x * x_row;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += THREADS) most = fmaxf(most, ka_load(row[i * x_column]));
  most = block_reduce(most, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < columns; i += THREADS) sum += expf(ka_load(row[i * x_column]) - most);
  sum = block_reduce(sum, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < columns; i += THREADS)
    ka_store(&y[blockIdx.x * (int64_t)columns + i], expf(ka_load(row[i * x_column]) - most) / sum);
}

template <typename T>
void launch(const ka_tensor *x, ka_tensor *y, hipStream_t stream) {
  const int rows = x->size[0], columns = x->size[1];
  volatile unsigned padded = 1;
  while (padded != (unsigned)columns) padded = 2 * padded;
  softmax_kernel<T><<<rows, THREADS, 0, stream>>>((const T *)x->data, x->stride[0], x->stride[1], (T *)y->data,
                                                  columns);
}

int softmax(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, (hipStream_t)stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, (hipStream_t)stream);
  return hipGetLastError();
}
