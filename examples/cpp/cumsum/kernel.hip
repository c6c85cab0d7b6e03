#include <ka_elements.h>
#include <kernelarena.h>

constexpr int THREADS = 256, EACH = 8, TILE = THREADS * EACH;

// Shared memory has 32 banks: with one element skipped after each 32, threads that walk EACH apart meet in fewer.
__device__ inline int padded(int index) { return index + index / 32; }

// Returns the sum of the values of the threads before this one, and that of all in `total`: a scan by doubling.
__device__ float sum_before(float value, float *total) {
  __shared__ float sums[2][THREADS];
  const int thread = threadIdx.x;
  int from = 0;
  sums[from][thread] = value;
  __syncthreads();
  for (int distance = 1; distance < THREADS; distance *= 2, from ^= 1) {
    sums[from ^ 1][thread] = sums[from][thread] + (thread >= distance ? sums[from][thread - distance] : 0.0f);
    __syncthreads();
  }
  *total = sums[from][THREADS - 1];
  return thread > 0 ? sums[from][thread - 1] : 0.0f;
}

// A block walks along one row, tile by tile. A tile is read and written by neighbours, and summed by threads that have
// EACH consecutive elements.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    cumsum_kernel(const T *x, T *y, int64_t columns, int64_t x_row, int64_t x_column) {
  __shared__ float tile[TILE + TILE / 32];
  const T *x_start = x + blockIdx.x * x_row;
  T *y_start = y + blockIdx.x * columns;
  float carried = 0;
  for (int64_t start = 0; start < columns; start += TILE) {
    for (int index = threadIdx.x; index < TILE; index += THREADS)
      tile[padded(index)] = start + index < columns ? ka_load(x_start[(start + index) * x_column]) : 0.0f;
    __syncthreads();
    float own[EACH], sum = 0, total;
    for (int i = 0; i < EACH; i++) own[i] = sum += tile[padded(threadIdx.x * EACH + i)];
    const float before = carried + sum_before(sum, &total);
    carried += total;
    for (int i = 0; i < EACH; i++) tile[padded(threadIdx.x * EACH + i)] = before + own[i];
    __syncthreads();
    for (int index = threadIdx.x; index < TILE; index += THREADS)  // each has the places that it loads to next
      if (start + index < columns) ka_store(&y_start[start + index], tile[padded(index)]);
  }
}

template <typename T>
static void launch(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  cumsum_kernel<T><<<(unsigned)x->size[0], THREADS, 0, (hipStream_t)stream>>>(
      (const T *)x->data, (T *)y->data, x->size[1], x->stride[0], x->stride[1]);
}

int cumsum(const ka_tensor *x, ka_tensor *y, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, stream);
  return hipGetLastError();
}
