#include <ka_block.h>
#include <ka_elements.h>
#include <kernelarena.h>

constexpr int THREADS = 256;

struct Strides {
  int64_t row, column;
};

// Each thread normalises what it has itself written to `hidden`, so that x and the residual are read once.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    rms_norm_kernel(const T *x, Strides of_x, const T *residual, Strides of_residual, const T *weight,
                    int64_t weight_step, float eps, T *y, T *hidden, int64_t columns) {
  const int64_t row = blockIdx.x;
  float squares = 0;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS) {
    T *sum = &hidden[row * columns + column];
    ka_store(sum, ka_load(x[row * of_x.row + column * of_x.column]) +
                      ka_load(residual[row * of_residual.row + column * of_residual.column]));
    squares += ka_load(*sum) * ka_load(*sum);
  }
  const float mean = ka_block_reduce<THREADS>(squares, 0.0f, ka_sum()) / columns;
  const float inverse = 1.0f / sqrtf(mean + eps);
  for (int64_t column = threadIdx.x; column < columns; column += THREADS) {
    const int64_t at = row * columns + column;
    ka_store(&y[at], ka_load(hidden[at]) * inverse * ka_load(weight[column * weight_step]));
  }
}

template <typename T>
static void launch(const ka_tensor *x, const ka_tensor *residual, const ka_tensor *weight, double eps, ka_tensor *y,
                   ka_tensor *hidden, ka_stream stream) {
  rms_norm_kernel<T><<<(unsigned)x->size[0], THREADS, 0, (hipStream_t)stream>>>(
      (const T *)x->data, Strides{x->stride[0], x->stride[1]}, (const T *)residual->data,
      Strides{residual->stride[0], residual->stride[1]}, (const T *)weight->data, weight->stride[0], (float)eps,
      (T *)y->data, (T *)hidden->data, x->size[1]);
}

int rms_norm_residual(const ka_tensor *x, const ka_tensor *residual, const ka_tensor *weight, double eps, ka_tensor *y,
                      ka_tensor *hidden, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, residual, weight, eps, y, hidden, stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, residual, weight, eps, y, hidden, stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, residual, weight, eps, y, hidden, stream);
  return hipGetLastError();
}
