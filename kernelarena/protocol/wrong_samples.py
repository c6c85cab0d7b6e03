"""The ways in which a sample is wrong that a test of its distribution must notice, each made from a right one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from kernelarena.protocol.controls import Control, Make, Material

FACTOR = 1.5
"""By which a sample of the wrong scale is too large."""
TILE = 128
"""Elements that a sample repeats whose numbers come from a place within a tile."""


def _made(alter: Callable[[Tensor], Tensor]) -> Make:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        if material.honest[index].numel():
            yield alter(material.honest[index])

    return make


def _half_written(sample: Tensor) -> Tensor:
    sample = sample.clone(memory_format=torch.contiguous_format)
    flat = sample.view(-1)
    flat[flat.numel() // 2 :] = 0
    return sample


def _repeated(sample: Tensor) -> Tensor:
    places = torch.arange(sample.numel(), device=sample.device) % TILE
    return sample.reshape(-1)[places].view(sample.shape)


def _sorted(sample: Tensor) -> Tensor:
    return sample.reshape(-1).sort().values.view(sample.shape)


# What little a sample of few elements tells is faint.
WRONG_SAMPLES: tuple[Control, ...] = (
    Control("zeros", _made(torch.zeros_like), faint=True),
    Control("one number for all", _made(lambda y: y.reshape(-1)[:1].expand(y.shape).contiguous()), faint=True),
    Control("half of it unwritten", _made(_half_written), faint=True),
    Control("of the wrong scale", _made(lambda y: (y.double() * FACTOR).to(y.dtype)), faint=True),
    Control("moved", _made(lambda y: (y.double() + 0.5).to(y.dtype)), faint=True),
    Control("a tile repeated", _made(_repeated), faint=True),
    Control("sorted", _made(_sorted), faint=True),
)
"""In the order of reports."""
