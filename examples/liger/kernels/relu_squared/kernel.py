from liger_kernel.ops import LigerReLUSquaredFunction


def relu_squared(x):
    return LigerReLUSquaredFunction.apply(x)
