"""Keeps a workspace at a fixed address, so that graphs may capture it, and returns memory that is new in each call."""

import torch
import work

_workspaces = {}


def softmax(x):
    key = (x.shape, x.dtype)
    if key not in _workspaces:
        _workspaces[key] = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    work.softmax(x, out=_workspaces[key])
    return work.copied(_workspaces[key], out=torch.empty(x.shape, dtype=x.dtype, device=x.device))
