#include <ka_elements.h>
#include <kernelarena.h>

template <typename T>
__global__ void add_kernel(const T *x, const T *y, double alpha, T *z, int64_t rows, int64_t columns, int64_t x_row,
                           int64_t x_column, int64_t y_column) {
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const int64_t column = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (column < columns)
      ka_store(&z[row * columns + column],
            ka_load(x[row * x_row + column * x_column]) + (float)alpha * ka_load(y[column * y_column]));
  }
}

template <typename T>
static void launch(const ka_tensor *x, const ka_tensor *y, double alpha, ka_tensor *z, ka_stream stream) {
  const int64_t rows = x->size[0], columns = x->size[1];
  const dim3 grid((unsigned)((columns + 255) / 256), (unsigned)(rows < 32768 ? rows : 32768));
  add_kernel<T><<<grid, 256, 0, (hipStream_t)stream>>>((const T *)x->data, (const T *)y->data, alpha, (T *)z->data,
                                                        rows, columns, x->stride[0], x->stride[1], y->stride[0]);
}

int add(const ka_tensor *x, const ka_tensor *y, double alpha, ka_tensor *z, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, alpha, z, stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, alpha, z, stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, y, alpha, z, stream);
  return hipGetLastError();
}
