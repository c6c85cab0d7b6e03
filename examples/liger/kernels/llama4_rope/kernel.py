from liger_kernel.ops import LigerLlama4RopeFunction


def llama4_rope(q, k, rotation):
    return LigerLlama4RopeFunction.apply(q.clone(), k.clone(), rotation)  # the package rotates in place
