import torch


def inputs(shape, rng):
    return {
        "grad_ce": rng.tensor(shape["M"], dtype="float32"),
        "grad_tvd": rng.tensor(shape["M"], dtype="float32"),
        "student": rng.tensor(shape["M"], shape["V"]),
        "teacher": rng.tensor(shape["M"], shape["V"]),
        "target": rng.integers(0, shape["V"], shape["M"]),
    }


@torch.enable_grad()
def reference(grad_ce, grad_tvd, student, teacher, target):
    student = student.detach().requires_grad_()
    wide = torch.promote_types(student.dtype, torch.float32)  # both losses are float32 whatever the dtype
    logits = student.to(wide)
    ce = torch.nn.functional.cross_entropy(logits, target, reduction="none")
    tvd = 0.5 * (torch.softmax(logits, dim=-1) - torch.softmax(teacher.to(wide), dim=-1)).abs().sum(dim=-1)
    (dstudent,) = torch.autograd.grad((ce, tvd), student, (grad_ce, grad_tvd))
    return ce.detach(), tvd.detach(), dstudent
