import torch.nn.functional as F


def inputs(shape, rng):
    size = (shape["B"], shape["H"], shape["S"], shape["D"])
    return {"q": rng.tensor(*size), "k": rng.tensor(*size), "v": rng.tensor(*size)}


def aligned(x):
    # The fused kernels behind the operator read 16 bytes at a time, and fault where a pointer is less aligned.
    return x if x.data_ptr() % 16 == 0 else x.clone()


def reference(q, k, v):
    return F.scaled_dot_product_attention(aligned(q), aligned(k), aligned(v), is_causal=True)
