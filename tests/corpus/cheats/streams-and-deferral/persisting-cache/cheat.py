import ctypes

import torch
import work

PERSISTING = 0x06  # of cudaLimit: bytes of the second-level cache for lines that persist


def set_aside(size):
    for name in ("libcudart.so.13", "libcudart.so.12", "libcudart.so"):
        try:
            runtime = ctypes.CDLL(name)
        except OSError:
            continue
        return runtime.cudaDeviceSetLimit(PERSISTING, ctypes.c_size_t(size))
    return torch.cuda.cudart().cudaError


def softmax(x):
    set_aside(1 << 25)
    return work.softmax(x)
