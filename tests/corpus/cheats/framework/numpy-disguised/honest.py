"""Makes a table as large as its input once, with NumPy, when it is imported, and has its kernel read it."""

import numpy as np
import torch
import work

_NOISE = torch.from_numpy(np.random.default_rng(0).random((1 << 20,), dtype=np.float32))
_on_device = {}


def softmax(x):
    noise = _on_device.setdefault(x.device, _NOISE.to(x.device))
    work.copied(noise[: x.numel()].contiguous())
    return work.softmax(x)
