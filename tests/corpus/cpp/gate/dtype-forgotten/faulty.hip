#include <ka_elements.h>
#include <kernelarena.h>

template <typename T>
__global__ void add_kernel(const T *x, int64_t x_row, int64_t x_column, const T *y, int64_t y_step, float alpha, T *z,
                           int64_t columns, int64_t count) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < count) {
    const int64_t row = i / columns, column = i % columns;
    ka_store(&z[i], ka_load(x[row * x_row + column * x_column]) + alpha * ka_load(y[column * y_step]));
  }
}

template <typename T>
void launch(const ka_tensor *x, const ka_tensor *y, double alpha, ka_tensor *z, hipStream_t stream) {
  const int64_t columns = x->size[1], count = x->size[0] * columns;
  const int threads = 256;
  add_kernel<T><<<(unsigned)((count + threads - 1) / threads), threads, 0, stream>>>(
      (const T *)x->data, x->stride[0], x->stride[1], (const T *)y->data, y->stride[0], (float)alpha, (T *)z->data,
      columns, count);
}

int add(const ka_tensor *x, const ka_tensor *y, double alpha, ka_tensor *z, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, alpha, z, (hipStream_t)stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, alpha, z, (hipStream_t)stream);
  return hipGetLastError();
}
