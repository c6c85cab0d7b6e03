from liger_kernel.ops import LigerSiLUMulFunction


def swiglu(gate, up):
    return LigerSiLUMulFunction.apply(gate, up)
