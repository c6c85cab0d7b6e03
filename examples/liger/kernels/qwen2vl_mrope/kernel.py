from liger_kernel.ops import LigerQwen2VLMRopeFunction


def qwen2vl_mrope(q, k, cos, sin, time, height, width):
    # The package rotates in place where q and k already lie in its own order of dimensions.
    return LigerQwen2VLMRopeFunction.apply(q.clone(), k.clone(), cos, sin, [time, height, width])
