import torch
from liger_kernel.ops import LigerTVDLossFunction


def tvd_backward(grad, p, q):
    p = p.detach().requires_grad_()
    return torch.autograd.grad(LigerTVDLossFunction.apply(p, q), p, grad)[0]
