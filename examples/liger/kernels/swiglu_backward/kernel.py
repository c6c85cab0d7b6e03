import torch
from liger_kernel.ops import LigerSiLUMulFunction


def swiglu_backward(grad, gate, up):
    # The package's backward pass writes the gradients over the activations that it saved.
    gate, up = gate.detach().clone().requires_grad_(), up.detach().clone().requires_grad_()
    return torch.autograd.grad(LigerSiLUMulFunction.apply(gate, up), (gate, up), grad)
