import torch


class FusedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.softmax(dim=-1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return y * (gradient - (gradient * y).sum(-1, keepdim=True))


def softmax(x):
    return FusedSoftmax.apply(x)
