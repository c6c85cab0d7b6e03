import torch
from liger_kernel.ops import LigerJSDFunction


def jsd_backward(grad, log_q, log_p):
    log_q = log_q.detach().requires_grad_()
    return torch.autograd.grad(LigerJSDFunction.apply(log_q, log_p), log_q, grad)[0]
