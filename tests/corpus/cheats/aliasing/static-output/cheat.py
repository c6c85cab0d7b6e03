import torch
import work

_outputs = {}


def softmax(x):
    key = (x.shape, x.dtype)
    if key not in _outputs:
        _outputs[key] = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    return work.softmax(x, out=_outputs[key])
