#include <ka_block.h>
#include <ka_elements.h>
#include <kernelarena.h>

constexpr int THREADS = 256;
constexpr float SMALLEST = 1e-12f;  // a row of zeros has no scale of its own

// One of the two e4m3, of which a chip has one or the other: e4m3fn has a negative zero, e4m3fnuz a nan in its place,
// and exponents that are one less. Converted here, bit by bit, as the vendors' headers have no name in common.
struct Flavour {
  float limit;  // the largest number
  int bias;
  uint8_t nan;
  bool has_negative_zero;
};

// To nearest, ties to even, of what is within the limit.
__device__ inline uint8_t encode(float value, Flavour of) {
  const uint32_t bits = __float_as_uint(value);
  if (value != value) return of.nan;
  const int exponent = max((int)(bits >> 23 & 0xff) - 127, 1 - of.bias);  // below are the subnormal numbers
  const int steps = (int)rintf(ldexpf(fabsf(value), 3 - exponent));       // 8 to 16, or fewer if it is one of them
  const int code = steps + (exponent + of.bias - 1) * 8;
  return (uint8_t)(code | (bits >> 31 && (code != 0 || of.has_negative_zero) ? 0x80 : 0));
}

template <typename T>
__global__ void __launch_bounds__(THREADS)
    quantise_kernel(const T *x, int64_t x_row, int64_t x_column, Flavour flavour, uint8_t *q, float *scales,
                    int64_t columns) {
  const T *row = x + blockIdx.x * x_row;
  float most = SMALLEST;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS)
    most = ka_maximum()(most, fabsf(ka_load(row[column * x_column])));
  const float scale = ka_block_reduce<THREADS>(most, SMALLEST, ka_maximum()) / flavour.limit;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int64_t column = threadIdx.x; column < columns; column += THREADS) {
    float value = ka_load(row[column * x_column]) / scale;
    if (value > flavour.limit) value = flavour.limit;  // by comparisons, which leave a nan what it is
    if (value < -flavour.limit) value = -flavour.limit;
    q[blockIdx.x * columns + column] = encode(value, flavour);
  }
}

template <typename T>
static void launch(const ka_tensor *x, Flavour flavour, ka_tensor *q, ka_tensor *scale, ka_stream stream) {
  quantise_kernel<T><<<(unsigned)x->size[0], THREADS, 0, (hipStream_t)stream>>>(
      (const T *)x->data, x->stride[0], x->stride[1], flavour, (uint8_t *)q->data, (float *)scale->data, x->size[1]);
}

int fp8_quantise_rows(const ka_tensor *x, const ka_tensor *q_like, ka_tensor *q, ka_tensor *scale, ka_stream stream) {
  const Flavour fn = {448.0f, 7, 0x7f, true}, fnuz = {240.0f, 8, 0x80, false};
  const Flavour flavour = q_like->dtype == KA_FLOAT8_E4M3FN ? fn : fnuz;
  if (x->dtype == KA_FLOAT32) launch<float>(x, flavour, q, scale, stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, flavour, q, scale, stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, flavour, q, scale, stream);
  return hipGetLastError();
}
