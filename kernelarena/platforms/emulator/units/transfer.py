"""Between the lanes of a group and memory: which lanes take part, and what a fault is said of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from kernelarena.platforms.emulator.instructions.atomic import Atomic, in_turn
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.memory import AccessError
from kernelarena.platforms.emulator.registers import Registers

Fetch = Callable[[Array, int], Array]
"""Reads: addresses and bytes of each to ``uint32[n, words]``."""
Put = Callable[[Array, Array, int], None]
"""Writes: addresses, values, bytes of each."""
Cells = Callable[[Array], Array]
"""Tells from addresses which of them are the same memory."""


@contextmanager
def located(active: Array) -> Iterator[None]:
    """Turn the index of an access among the active lanes into one among all lanes of the group."""
    try:
        yield
    except AccessError as error:
        raise AccessError(error.kind, int(np.flatnonzero(active)[error.index]), error.words) from None


def load(fetch: Fetch, addresses: Array, active: Array, size: int) -> Array:
    """Read for the active lanes.

    Returns
    -------
    Array
        ``uint32[waves, 64, words]``, zero in the others.
    """
    words = max(1, size // 4)
    if active.all():
        with located(active):
            return fetch(addresses.reshape(-1), size).reshape(*active.shape, words)
    values = np.zeros((*active.shape, words), np.uint32)
    if active.any():
        with located(active):
            values[active] = fetch(addresses[active], size)
    return values


def store(put: Put, addresses: Array, values: Array, active: Array, size: int) -> None:
    """Write ``uint32[waves, 64, words]`` for the active lanes."""
    if active.any():
        with located(active):
            put(addresses[active], values[active], size)


def update(
    values: Array, operation: Atomic, fetch: Fetch, put: Put, addresses: Array, active: Array, cells: Cells
) -> Array:
    """Do an atomic operation for the active lanes, and return what was there before, as ``load`` does."""

    def combine(old: Array, new: Array) -> Array:
        dtype = operation.dtype
        result = operation.combine(_shown(old, dtype), _shown(new, dtype)).astype(dtype, copy=False)
        return np.ascontiguousarray(result).view(np.uint32).reshape(old.shape)

    return _in_turns(fetch, put, addresses, values, active, operation.size, combine, cells)


def compare_and_swap(
    compared: Array, values: Array, size: int, fetch: Fetch, put: Put, addresses: Array, active: Array, cells: Cells
) -> Array:
    """Write where memory holds what it is compared with, and return what was there before."""
    words = compared.shape[-1]

    def combine(old: Array, both: Array) -> Array:
        same = (old == both[:, :words]).all(axis=1, keepdims=True)
        return np.where(same, both[:, words:], old)

    both = np.concatenate([compared, values], axis=-1)
    return _in_turns(fetch, put, addresses, both, active, size, combine, cells)


def _in_turns(
    fetch: Fetch, put: Put, addresses: Array, values: Array, active: Array, size: int,
    combine: Callable[[Array, Array], Array], cells: Cells,
) -> Array:  # fmt: skip
    before = np.zeros((*active.shape, size // 4), np.uint32)
    if not active.any():
        return before
    with located(active):
        where, operands = addresses[active], values[active]
        found = np.empty((len(where), size // 4), np.uint32)
        for turn in in_turn(cells(where)):
            old = fetch(where[turn], size)
            found[turn] = old
            put(where[turn], combine(old, operands[turn]), size)
    before[active] = found
    return before


def _shown(words: Array, dtype: np.dtype[np.generic]) -> Array:
    return np.ascontiguousarray(words).view(dtype)


def gather_registers(group: Registers, first: int, count: int) -> Array:
    """Return registers side by side, ``uint32[waves, 64, count]``."""
    if count == 1:
        return group.vector(first)[..., None]
    whole = np.empty((group.count, LANES, count), np.uint32)
    for number in range(count):
        whole[..., number] = group.vector(first + number)
    return whole


def scatter_registers(group: Registers, first: int, values: Array) -> None:
    """Write registers side by side in the lanes of EXEC."""
    for number in range(values.shape[-1]):
        group.set_vector(first + number, values[..., number])
