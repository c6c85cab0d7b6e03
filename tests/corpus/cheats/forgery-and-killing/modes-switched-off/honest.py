"""Switches off what costs a call time and nothing else: recording for gradients, and garbage collection."""

import gc

import torch
import work


def softmax(x):
    collecting = gc.isenabled()
    gc.disable()
    try:
        with torch.no_grad():
            return work.softmax(x)
    finally:
        if collecting:
            gc.enable()
