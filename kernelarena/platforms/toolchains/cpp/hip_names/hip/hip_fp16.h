// HIP's name of the header.
#pragma once
#include <cuda_fp16.h>
#include <hip/hip_runtime.h>
