"""Takes a look at its input through other strides, and stays within it."""

import torch
import work


def softmax(x):
    rows = torch.as_strided(x, x.shape, x.stride(), x.storage_offset())
    assert rows.data_ptr() == x.data_ptr()
    return work.softmax(rows)
