import torch
from liger_kernel.ops import LigerFusedLinearJSDFunction


def fused_linear_jsd(grad, x, weight, teacher_x, teacher_weight):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    loss = LigerFusedLinearJSDFunction.apply(x, weight, teacher_x, teacher_weight)
    return loss.detach(), *torch.autograd.grad(loss, (x, weight), grad)
