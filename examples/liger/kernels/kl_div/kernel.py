from liger_kernel.ops import LigerKLDivLossFunction


def kl_div(log_q, p):
    return LigerKLDivLossFunction.apply(log_q, p, "sum")
