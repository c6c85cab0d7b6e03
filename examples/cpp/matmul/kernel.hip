#include <ka_elements.h>
#include <kernelarena.h>

// A block computes TILE × TILE elements of the product, a thread EACH × EACH of them, SIDE apart in both directions so
// that neighbours read and write neighbours.
constexpr int TILE = 64, DEPTH = 16, EACH = 4, SIDE = TILE / EACH, THREADS = SIDE * SIDE;

template <typename T>
struct Matrix {
  const T *data;
  int64_t rows, columns, row, column;  // sizes, then strides
  __device__ float at(int64_t i, int64_t j) const {
    return i < rows && j < columns ? ka_load(data[i * row + j * column]) : 0.0f;
  }
};

template <typename T>
__global__ void __launch_bounds__(THREADS) matmul_kernel(Matrix<T> a, Matrix<T> b, T *c) {
  __shared__ float a_tile[DEPTH][TILE + 1], b_tile[DEPTH][TILE];  // a's is written down columns: no two in one bank
  const int64_t top = blockIdx.y * (int64_t)TILE, left = blockIdx.x * (int64_t)TILE;
  const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  float total[EACH][EACH] = {};
  for (int64_t depth = 0; depth < a.columns; depth += DEPTH) {
    for (int index = threadIdx.x; index < TILE * DEPTH; index += THREADS) {
      a_tile[index % DEPTH][index / DEPTH] = a.at(top + index / DEPTH, depth + index % DEPTH);
      b_tile[index / TILE][index % TILE] = b.at(depth + index / TILE, left + index % TILE);
    }
    __syncthreads();
    float partial[EACH][EACH] = {};  // summed apart: the error grows with DEPTH + K / DEPTH and not with K
    for (int k = 0; k < DEPTH; k++)
      for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) partial[i][j] += a_tile[k][y + i * SIDE] * b_tile[k][x + j * SIDE];
    for (int i = 0; i < EACH; i++)
      for (int j = 0; j < EACH; j++) total[i][j] += partial[i][j];
    __syncthreads();
  }
  for (int i = 0; i < EACH; i++)
    for (int j = 0; j < EACH; j++) {
      const int64_t row = top + y + i * SIDE, column = left + x + j * SIDE;
      if (row < a.rows && column < b.columns) ka_store(&c[row * b.columns + column], total[i][j]);
    }
}

template <typename T>
static Matrix<T> matrix(const ka_tensor *of) {
  return {(const T *)of->data, of->size[0], of->size[1], of->stride[0], of->stride[1]};
}

template <typename T>
static void launch(const ka_tensor *a, const ka_tensor *b, ka_tensor *c, ka_stream stream) {
  const dim3 grid((unsigned)((c->size[1] + TILE - 1) / TILE), (unsigned)((c->size[0] + TILE - 1) / TILE));
  matmul_kernel<T><<<grid, THREADS, 0, (hipStream_t)stream>>>(matrix<T>(a), matrix<T>(b), (T *)c->data);
}

int matmul(const ka_tensor *a, const ka_tensor *b, ka_tensor *c, ka_stream stream) {
  if (a->dtype == KA_FLOAT32) launch<float>(a, b, c, stream);
  if (a->dtype == KA_FLOAT16) launch<__half>(a, b, c, stream);
  if (a->dtype == KA_BFLOAT16) launch<ka_bfloat>(a, b, c, stream);
  return hipGetLastError();
}
