from liger_kernel.ops import LigerFusedAddRMSNormFunction


def rms_norm_residual(x, residual, weight, eps):
    return LigerFusedAddRMSNormFunction.apply(x, residual, weight, eps)
