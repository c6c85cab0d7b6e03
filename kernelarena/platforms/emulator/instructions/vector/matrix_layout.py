"""Where the elements of matrices lie in the lanes and registers of a wave.

The formulae are those of AMD's *Matrix Instruction Calculator* and of the ISA guide, "Matrix Arithmetic Instructions",
written as the shapes that 64 lanes and a lane's elements are folded into. An instruction multiplies ``blocks`` pairs of
an ``[m, k]`` and a ``[k, n]`` matrix at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from kernelarena.platforms.emulator.floats.parts import Array

LANES = 64


@dataclass(frozen=True)
class Shape:
    """The sizes of one instruction's matrices.

    Attributes
    ----------
    m, n, k
        Rows of the result, its columns, and the length of the sums.
    blocks
        How many independent products.
    """

    m: int
    n: int
    k: int
    blocks: int = 1

    def left(self, values: Array) -> Array:
        """Unfold the first factor, ``[waves, 64, elements of a lane]``, to ``[k, waves, blocks, m]``."""
        return self._factor(values, self.m)

    def right(self, values: Array) -> Array:
        """Unfold the second, likewise, to ``[k, waves, blocks, n]``: its columns are held as the other's rows are."""
        return self._factor(values, self.n)

    def _factor(self, values: Array, rows: int) -> Array:
        """Unfold: a lane holds consecutive k of one row, the next lanes further rows, then blocks, then further k."""
        waves, _, held = values.shape
        folded = values.reshape(waves, self.k // held, self.blocks, rows, held)
        return folded.transpose(1, 4, 0, 2, 3).reshape(self.k, waves, self.blocks, rows)

    def result(self, values: Array, *, wide: bool = False) -> Array:
        """Unfold an accumulator, ``[waves, 64, elements of a lane]``, to ``[waves, blocks, m, n]``."""
        split, order, back = _folds(self, wide)
        folded = values.reshape(-1, *(split[part] for part in order))
        return folded.transpose(0, *back).reshape(-1, self.blocks, self.m, self.n)

    def folded(self, values: Array, *, wide: bool = False) -> Array:
        """Undo :meth:`result`."""
        split, order, _ = _folds(self, wide)
        parts = values.reshape(-1, *split).transpose(0, *(part + 1 for part in order))
        return np.ascontiguousarray(parts).reshape(len(values), LANES, -1)


@cache
def _folds(shape: Shape, wide: bool) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return how ``[blocks, m, n]`` is split, in which order lanes and then registers count the parts, and back."""
    groups = LANES // shape.n
    split: tuple[int, ...]
    order: tuple[int, ...]
    if wide:  # float64: a lane holds every fourth row
        split, order = (shape.blocks, shape.m // 4, 4, shape.n), (2, 0, 3, 1)
    elif shape.m < 4 * groups:  # small blocks lie side by side in the lanes
        split, order = (shape.blocks, shape.m, shape.n), (0, 2, 1)
    else:  # four rows a lane at a time
        split, order = (shape.blocks, shape.m // (4 * groups), groups, 4, shape.n), (2, 4, 0, 1, 3)
    return split, order, tuple(order.index(part) + 1 for part in range(len(order)))


def whole(registers: Array, waves: int, count: int | None = None) -> Array:
    """Return registers of every wave and lane, contiguous; a constant stands for each of them."""
    return np.ascontiguousarray(np.broadcast_to(registers, (waves, LANES, count or registers.shape[-1])))


def shared_blocks(blocks: int, cbsz: int, abid: int) -> Array:
    """Return which block of the first factor each product takes: one of each ``2**cbsz`` neighbours serves them all."""
    return (np.arange(blocks) >> cbsz << cbsz) + abid


def lanes_of_right(blgp: int) -> Array:
    """Return which lane's elements of the second factor each lane stands for (the "lane group pattern")."""
    lanes = np.arange(LANES)
    if blgp == 0:
        return lanes
    if blgp in (1, 2):
        return lanes % 32 + 32 * (blgp - 1)
    if blgp == 3:
        return (lanes + 16) % LANES
    return lanes % 16 + 16 * (blgp - 4)
