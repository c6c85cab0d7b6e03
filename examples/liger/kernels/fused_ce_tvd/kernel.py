import torch
from liger_kernel.ops import LigerFusedCETVDFunction


def fused_ce_tvd(grad_ce, grad_tvd, student, teacher, target):
    student = student.detach().requires_grad_()
    ce, tvd = LigerFusedCETVDFunction.apply(student, teacher, target)
    return ce.detach(), tvd.detach(), torch.autograd.grad((ce, tvd), student, (grad_ce, grad_tvd))[0]
