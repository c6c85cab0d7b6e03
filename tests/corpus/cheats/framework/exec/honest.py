"""A docstring may say torch.softmax(x, dim=-1), eval, exec, or pass; nothing of that is called."""

from dataclasses import dataclass

import torch
import work


@dataclass(frozen=True)
class Plan:
    """How one launch goes; dataclasses write their own methods, by exec."""

    rows: int
    block: int


def softmax(x):
    # We pass over every row once. torch.softmax would do the same.
    plan = Plan(rows=x.shape[0], block=work.block_of(x.shape[1]))
    x = x.contiguous()
    y = torch.empty_like(x)
    work.softmax_kernel[(plan.rows,)](x, y, x.shape[1], x.stride(0), BLOCK=plan.block)
    return y
