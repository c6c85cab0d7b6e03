from liger_kernel.ops import LigerPolyNormFunction


def poly_norm(x, weight, bias, eps):
    return LigerPolyNormFunction.apply(x, weight, bias, eps)
