import torch
from liger_kernel.ops import LigerFusedAddRMSNormFunction


def rms_norm_residual_backward(grad, grad_sum, x, residual, weight, eps):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    y = LigerFusedAddRMSNormFunction.apply(x, residual, weight, eps)
    return torch.autograd.grad(y, (x, weight), (grad, grad_sum))
