from liger_kernel.ops import LigerFusedNeighborhoodAttentionFunction


def neighborhood_attention(q, k, v, window):
    return LigerFusedNeighborhoodAttentionFunction.apply(q, k, v, window)
