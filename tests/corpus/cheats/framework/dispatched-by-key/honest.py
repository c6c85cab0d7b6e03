"""Asks which devices an operator has kernels for, and calls none of them."""

import torch
import work


def softmax(x):
    assert torch._C._dispatch_has_kernel_for_dispatch_key("aten::_softmax.out", "CPU")
    return work.softmax(x)
