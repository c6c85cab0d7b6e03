from liger_kernel.ops import LigerDyTFunction


def dyt(x, alpha, gamma, beta):
    return LigerDyTFunction.apply(x, alpha, gamma, beta)
