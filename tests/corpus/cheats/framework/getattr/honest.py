"""Looks dtypes up by name, which is what getattr is for."""

import torch
import work

DTYPES = {name: getattr(torch, name) for name in ("float32", "float16", "bfloat16")}


def softmax(x):
    assert x.dtype in DTYPES.values()
    return work.softmax(x)
