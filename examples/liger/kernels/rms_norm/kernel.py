from liger_kernel.ops import LigerRMSNormFunction


def rms_norm(x, weight, eps):
    return LigerRMSNormFunction.apply(x, weight, eps)
