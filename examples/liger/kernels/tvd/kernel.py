from liger_kernel.ops import LigerTVDLossFunction


def tvd(p, q):
    return LigerTVDLossFunction.apply(p, q)
