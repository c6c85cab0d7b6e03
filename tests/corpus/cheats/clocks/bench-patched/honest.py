"""Chooses between two block sizes by do_bench, for each row length once: autotuning by hand."""

import functools

import torch
import triton
import triton.testing
import work


@functools.cache
def _block(columns, device):
    x = torch.ones((1, columns), device=device)
    z = torch.empty_like(x)

    def run(block):
        work.add_kernel[(triton.cdiv(columns, block),)](x, x, z, 1.0, columns, columns, columns, BLOCK=block)

    return min((512, 1024), key=lambda block: triton.testing.do_bench(lambda: run(block), warmup=1, rep=1))


def add(x, y, alpha):
    x, y = x.contiguous(), y.contiguous()
    z = torch.empty_like(x)
    block = _block(x.shape[1], x.device)
    work.add_kernel[(triton.cdiv(x.numel(), block),)](x, y, z, alpha, x.numel(), *x.shape[1:] * 2, BLOCK=block)
    return z
