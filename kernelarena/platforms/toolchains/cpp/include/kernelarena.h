/* What a kernel in C++ is given: tensors as plain structures, and a stream.
 *
 * Plain C on purpose: it includes no header of a framework, so that a kernel compiles in a second or two, and the same
 * shared library runs beside any build of one. The fields are those of DLPack's DLTensor; strides are always there. */
#ifndef KERNELARENA_H
#define KERNELARENA_H

#include <stdint.h>

/* Of an element; the names are PyTorch's. */
typedef enum ka_dtype {
  KA_BOOL = 0,
  KA_UINT8 = 1,
  KA_INT8 = 2,
  KA_INT16 = 3,
  KA_INT32 = 4,
  KA_INT64 = 5,
  KA_FLOAT16 = 6,
  KA_BFLOAT16 = 7,
  KA_FLOAT32 = 8,
  KA_FLOAT64 = 9,
  KA_FLOAT8_E4M3FN = 10,
  KA_FLOAT8_E4M3FNUZ = 11,
  KA_FLOAT8_E5M2 = 12,
  KA_FLOAT8_E5M2FNUZ = 13
} ka_dtype;

typedef struct ka_tensor {
  void *data;            /* the first element, on the device */
  int32_t dtype;         /* a ka_dtype */
  int32_t ndim;
  const int64_t *size;   /* elements in each dimension; on the host */
  const int64_t *stride; /* elements from one to the next in each dimension; on the host */
} ka_tensor;

/* The runtime's stream (cudaStream_t, hipStream_t): launch on it and on no other. */
typedef void *ka_stream;

#endif
