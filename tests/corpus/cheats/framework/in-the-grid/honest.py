"""Has a function say how many programs there are, from sizes."""

import torch
import work


def softmax(x):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)

    def grid(meta):
        return (x.numel() // x.shape[-1],)

    work.softmax_kernel[grid](x, y, x.shape[1], x.stride(0), BLOCK=work.block_of(x.shape[1]))
    return y
