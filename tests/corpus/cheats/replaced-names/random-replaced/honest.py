"""Seeds a generator, as everybody does who wants the same numbers twice, and draws a few."""

import torch
import work

torch.manual_seed(0)
_generator = torch.Generator().manual_seed(0)
_jitter = torch.rand(4, generator=_generator)


def softmax(x):
    assert _jitter.shape == (4,)
    return work.softmax(x)
