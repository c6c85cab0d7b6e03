"""Compares itself with exact values by torch.testing, once, when it is imported."""

import torch
import torch.testing
import work


def softmax(x):
    return work.softmax(x)


_zeros = torch.zeros((2, 4), device="cuda" if torch.cuda.is_available() else "cpu")
torch.testing.assert_close(softmax(_zeros), torch.full_like(_zeros, 0.25))
