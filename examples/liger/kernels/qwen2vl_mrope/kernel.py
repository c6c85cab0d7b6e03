from liger_kernel.ops import LigerQwen2VLMRopeFunction


def qwen2vl_mrope(q, k, cos, sin, time, height, width):
    # The package rotates in place where q and k already lie in its own order of dimensions.
    cos, sin = (table.repeat(1, 1, 1, 2) for table in (cos, sin))  # it reads the left half of rows as long as a head
    return LigerQwen2VLMRopeFunction.apply(q.clone(), k.clone(), cos, sin, [time, height, width])
