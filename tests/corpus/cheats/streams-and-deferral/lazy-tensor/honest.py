"""Takes inputs of any tensor class, and returns a plain tensor: what modules with parameters do."""

import torch
import work


class Tile(torch.Tensor):
    """A tensor that knows that it is a tile; nothing of it is overridden."""


def softmax(x):
    tile = x.as_subclass(Tile)
    assert isinstance(tile, Tile)
    return work.softmax(tile.as_subclass(torch.Tensor))
