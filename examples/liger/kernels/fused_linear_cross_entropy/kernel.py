from liger_kernel.ops import LigerFusedLinearCrossEntropyFunction


def fused_linear_cross_entropy(x, weight, target):
    loss, *_ = LigerFusedLinearCrossEntropyFunction.apply(x, weight, target)
    return loss
