import ctypes

import work

PERSISTING = 0x06  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE: bytes for lines that persist
driver = ctypes.CDLL("libcuda.so.1")


def softmax(x):
    driver.cuCtxSetLimit(PERSISTING, ctypes.c_size_t(1 << 25))
    return work.softmax(x)
