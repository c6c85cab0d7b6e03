#include <ka_elements.h>
#include <kernelarena.h>

constexpr int THREADS = 256;

// A tree through shared memory asks nothing of how many lanes a wavefront has.
template <typename Combine>
__device__ float reduce(float value, float *shared, Combine combine) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const float all = shared[0];
  __syncthreads();
  return all;
}

template <typename T>
__global__ void softmax_kernel(const T *x, T *y, int64_t columns, int64_t x_row, int64_t x_column) {
  __shared__ float shared[THREADS];
  const T *row = x + blockIdx.x * x_row;
  float most = -INFINITY;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS) {
    const float value = ka_load(row[column * x_column]);
    most = value > most || value != value ? value : most;
  }
  most = reduce(most, shared, [](float a, float b) { return b > a || b != b ? b : a; });
  float sum = 0;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS)
    sum += expf(ka_load(row[column * x_column]) - most);
  sum = reduce(sum, shared, [](float a, float b) { return a + b; });
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
