"""Switches off the overriding of functions by subclasses of tensors, as libraries do for speed."""

import torch
import work


def softmax(x):
    with torch._C.DisableTorchFunctionSubclass():
        return work.softmax(x)
