"""Inputs for timed runs: always others, of one distribution, and now and then some whose answer is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import torch

from kernelarena.judge.arena import InputArena, Place, extent, itemsize, torch_dtype
from kernelarena.judge.problems import Problem

_ROWS = 8
"""One row in so many is another problem's."""
_ELEMENTS = 32
"""Where there is but one row, one element in so many."""
_ENDS = 4
"""Rows of no more elements change as a whole."""
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}


@dataclass(frozen=True)
class _Rows:
    """Where the rows of one floating-point input lie."""

    start: int
    """Bytes from the start of the memory."""
    count: int
    width: int
    """Elements of a row; 1 where the rows are the elements of a vector, or do not lie one after the other."""
    dtype: torch.dtype
    """Of equal size, that can be copied bit by bit."""

    def of(self, memory: torch.Tensor) -> torch.Tensor:
        """Return the rows in some memory."""
        length = self.count * self.width * self.dtype.itemsize
        return memory[self.start : self.start + length].view(self.dtype).view(self.count, self.width)


class Supply:
    """Writes inputs into places of equal layout.

    Parameters
    ----------
    places
        Made for the first of the problems.
    problems
        At least two, of one shape.
    rng
        Decides what nobody can foresee.
    """

    def __init__(self, places: Sequence[InputArena], problems: Sequence[Problem], rng: Random) -> None:
        self._places = places
        self._images = [places[0].laid_out(problem.inputs) for problem in problems]
        self._rng = rng
        self._chance = torch.Generator(places[0].memory.bytes.device)
        self._chance.manual_seed(rng.getrandbits(62))
        rows = [*_rows(places[0])]
        self._ours = [[entry.of(place.memory.bytes) for entry in rows] for place in places]
        self._theirs = [[entry.of(image) for entry in rows] for image in self._images]

    def known(self, place: int, problem: int) -> None:
        """Write the inputs of a problem."""
        self._places[place].put(self._images[problem])

    def fresh(self, place: int) -> None:
        """Write inputs that were never there before: some rows of one problem, the rest of another.

        Every other time the rows that change keep their ends, by which somebody may know them again.
        """
        one, other = self._rng.sample(range(len(self._images)), 2)
        inner = self._rng.random() < 0.5
        memory = self._places[place].memory
        memory.bytes.copy_(self._images[one])
        for ours, theirs in zip(self._ours[place], self._theirs[other], strict=True):
            count, width = ours.shape
            changed = -(-count // (_ROWS if width > 1 else _ELEMENTS))
            chosen = torch.randint(count, (changed,), generator=self._chance, device=ours.device)
            if inner and width > _ENDS:
                ours, theirs = ours[:, 1:-1], theirs[:, 1:-1]
            ours.index_copy_(0, chosen, theirs.index_select(0, chosen))
        memory.publish()


def _rows(arena: InputArena) -> Iterator[_Rows]:
    for place in arena.arguments:
        if not isinstance(place, Place) or not torch_dtype(place.dtype).is_floating_point:
            continue
        elements, bits = extent(place.size, place.stride), _BITS[itemsize(place.dtype)]
        if not elements:
            continue
        width = place.size[-1] if place.size else 1
        whole = place.stride[-1:] == (1,) and elements == torch.Size(place.size).numel() and elements > width
        yield _Rows(place.start, *((elements // width, width) if whole else (elements, 1)), bits)
