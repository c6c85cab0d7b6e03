#include <ka_elements.h>
#include <kernelarena.h>

// A wavefront a row. The lane that meets the target is found by a vote, and hands its logit to all.
template <typename T>
__global__ void loss_kernel(const T *x, int64_t x_row, int64_t x_column, const int64_t *target, int64_t target_step,
                            int64_t ignored, T *loss, int columns) {
  const T *row = x + blockIdx.x * x_row;
  const int64_t wanted = target[blockIdx.x * target_step];
  float most = -INFINITY, sum = 0, of_target = 0;
  for (int start = 0; start < columns; start += warpSize) {
    const int i = start + threadIdx.x;
    const float value = i < columns ? ka_load(row[i * x_column]) : -INFINITY;
    most = fmaxf(most, value);
    const unsigned long long found = __ballot(i == wanted);
    if (found) of_target = __shfl(value, __ffsll(found) - 1);
  }
  for (int offset = warpSize / 2; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor(most, offset));
  for (int i = threadIdx.x; i < columns; i += warpSize) sum += expf(ka_load(row[i * x_column]) - most);
  for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_xor(sum, offset);
  if (threadIdx.x == 0) ka_store(&loss[blockIdx.x], wanted == ignored ? 0.0f : logf(sum) + most - of_target);
}

template <typename T>
void launch(const ka_tensor *x, const ka_tensor *target, int64_t ignored, ka_tensor *loss, hipStream_t stream) {
  int lanes = 32;
  hipDeviceGetAttribute(&lanes, hipDeviceAttributeWarpSize, 0);
  loss_kernel<T><<<(unsigned)x->size[0], lanes, 0, stream>>>((const T *)x->data, x->stride[0], x->stride[1],
                                                            (const int64_t *)target->data, target->stride[0], ignored,
                                                            (T *)loss->data, (int)x->size[1]);
}

int cross_entropy(const ka_tensor *x, const ka_tensor *target, int64_t ignored, ka_tensor *loss, ka_stream stream) {
  if (x->dtype == KA_FLOAT32) launch<float>(x, target, ignored, loss, (hipStream_t)stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, target, ignored, loss, (hipStream_t)stream);
  if (x->dtype == KA_BFLOAT16) launch<ka_bfloat>(x, target, ignored, loss, (hipStream_t)stream);
  return hipGetLastError();
}
