from liger_kernel.ops import LigerModulatedRMSNormFunction


def modulated_rms_norm(x, weight, scale, shift, eps):
    return LigerModulatedRMSNormFunction.apply(x, weight, scale, shift, eps)
