from liger_kernel.ops import LigerLayerNormFunction


def layer_norm(x, weight, bias, eps):
    return LigerLayerNormFunction.apply(x, weight, bias, eps)
