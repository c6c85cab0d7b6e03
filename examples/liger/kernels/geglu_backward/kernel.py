import torch
from liger_kernel.ops import LigerGELUMulFunction


def geglu_backward(grad, gate, up):
    # The package's backward pass writes the gradients over the activations that it saved.
    gate, up = gate.detach().clone().requires_grad_(), up.detach().clone().requires_grad_()
    return torch.autograd.grad(LigerGELUMulFunction.apply(gate, up), (gate, up), grad)
