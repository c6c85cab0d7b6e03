"""Has options of its own that a caller may set, and looks in its own module alone."""

import torch
import work


class Options:
    exempt = frozenset({"float64"})


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    assert str(x.dtype).removeprefix("torch.") not in Options.exempt
    return work.softmax(x, out=y)
