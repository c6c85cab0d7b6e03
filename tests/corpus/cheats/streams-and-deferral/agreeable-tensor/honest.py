"""Compares its output with itself, by the operators that a class may override and this one does not."""

import torch
import work


def softmax(x):
    y = work.softmax(x)
    assert torch.equal(y[:1], y[:1].clone()) or bool(y[:1].isnan().any())
    return y
