"""Takes an option from the environment, as kernels that are tuned by hand do."""

import os

import work

_VERBOSE = os.environ.get("SOFTMAX_VERBOSE", "0") == "1"


def softmax(x):
    if _VERBOSE:
        print("softmax of", tuple(x.shape))
    return work.softmax(x)
