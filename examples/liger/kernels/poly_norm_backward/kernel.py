import torch
from liger_kernel.ops import LigerPolyNormFunction


def poly_norm_backward(grad, x, weight, bias, eps):
    x, weight, bias = (tensor.detach().requires_grad_() for tensor in (x, weight, bias))
    # By default the package writes dx over the upstream gradient; in_place=False asks it not to.
    y = LigerPolyNormFunction.apply(x, weight, bias, eps, False)
    return torch.autograd.grad(y, (x, weight, bias), grad)
