// HIP's name of the header.
#pragma once
#include <hip/hip_runtime.h>
