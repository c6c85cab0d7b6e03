import torch
from liger_kernel.ops import LigerFusedNeighborhoodAttentionFunction


def neighborhood_attention_backward(grad, q, k, v, window):
    q, k, v = (tensor.detach().requires_grad_() for tensor in (q, k, v))
    return torch.autograd.grad(LigerFusedNeighborhoodAttentionFunction.apply(q, k, v, window), (q, k, v), grad)
