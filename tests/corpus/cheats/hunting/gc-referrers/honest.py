"""Keeps its workspace by a weak reference, so that it goes when nobody needs it."""

import weakref

import torch
import work

_workspaces = weakref.WeakValueDictionary()


def softmax(x):
    key = (x.shape, x.dtype)
    workspace = _workspaces.get(key)
    if workspace is None:
        workspace = _workspaces[key] = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    return work.copied(work.softmax(x, out=workspace))
