from liger_kernel.ops import LigerAttnResFunction


def attn_res(values, query, weight, eps):
    return LigerAttnResFunction.apply(values, query, weight, eps)
