"""Registers an operator of its own, as kernels do that want to be part of compiled graphs."""

import torch
import work


@torch.library.custom_op("corpus::softmax", mutates_args=())
def _softmax(x: torch.Tensor) -> torch.Tensor:
    return work.softmax(x)


def softmax(x):
    return _softmax(x)
