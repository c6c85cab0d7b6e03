from liger_kernel.ops import LigerJSDFunction


def jsd(log_q, log_p):
    return LigerJSDFunction.apply(log_q, log_p)
