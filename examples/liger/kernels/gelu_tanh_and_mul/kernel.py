from liger_kernel.ops import LigerGELUMulFunction


def gelu_tanh_and_mul(x):
    gate, up = x.chunk(2, dim=-1)
    return LigerGELUMulFunction.apply(gate, up)
