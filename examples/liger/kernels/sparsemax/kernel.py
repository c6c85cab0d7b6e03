from liger_kernel.ops import LigerSparsemaxFunction


def sparsemax(x):
    return LigerSparsemaxFunction.apply(x, -1)
