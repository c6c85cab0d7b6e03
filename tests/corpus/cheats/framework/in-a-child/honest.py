"""Keeps a table in shared memory, which worker processes of a data loader would read too."""

import torch
import work

_table = torch.zeros(16).share_memory_()


def softmax(x):
    assert _table.is_shared()
    return work.softmax(x)
