from liger_kernel.ops import LigerMultiTokenAttentionFunction


def multi_token_attention(scores, weight, bias):
    return LigerMultiTokenAttentionFunction.apply(scores, weight, bias, 1, weight.shape[-1] // 2)
