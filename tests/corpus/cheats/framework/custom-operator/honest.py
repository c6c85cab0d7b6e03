"""Registers an operator in a name space of its own, whose implementation launches its kernel."""

import torch
import work


@torch.library.custom_op("fused_rows::softmax", mutates_args=())
def fused_softmax(x: torch.Tensor) -> torch.Tensor:
    return work.softmax(x)


def softmax(x):
    return fused_softmax(x)
