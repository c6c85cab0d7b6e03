from liger_kernel.ops import LigerRopeFunction


def rotary_embedding(q, k, cos, sin):
    # The package rotates in place, and takes [batch, heads, tokens, dimension] that lies in memory with heads third.
    q, k = q.clone()[None].transpose(1, 2), k.clone()[None].transpose(1, 2)
    q, k = LigerRopeFunction.apply(q, k, cos, sin, None, 1, q.shape[-1])
    return q.transpose(1, 2)[0], k.transpose(1, 2)[0]
