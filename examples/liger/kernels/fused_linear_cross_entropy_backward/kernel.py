import torch
from liger_kernel.ops import LigerFusedLinearCrossEntropyFunction


def fused_linear_cross_entropy_backward(grad, x, weight, target):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    loss, *_ = LigerFusedLinearCrossEntropyFunction.apply(x, weight, target)
    return torch.autograd.grad(loss, (x, weight), grad)
