"""A module whose forward pass launches its kernel."""

import work
from torch import nn


class TritonSoftmax(nn.Module):
    def forward(self, x):
        return work.softmax(x)
