"""What atomic operations do: functions of what is there and what comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.lanes import Array

Combine = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Atomic:
    """One operation.

    Attributes
    ----------
    dtype
        Of memory and operand.
    parts
        Elements of the dtype side by side.
    combine
        From what is there and the operand to what will be there.
    """

    dtype: np.dtype[np.generic]
    parts: int
    combine: Combine

    @property
    def size(self) -> int:
        """Bytes."""
        return self.dtype.itemsize * self.parts


def _increment(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _swap(old: Array, new: Array) -> Array:
    return new


def _add_bfloat(old: Array, new: Array) -> Array:
    """Add bfloat16 in raw bits: sums of two are exact in float64, and rounded once to nearest even."""
    total = _widened(old).astype(np.float64) + _widened(new)
    single = total.astype(np.float32)
    # Round to odd first, so that rounding twice is rounding once.
    bits = single.view(np.uint32)
    inexact = single.astype(np.float64) != total
    toward = (np.abs(single.astype(np.float64)) > np.abs(total)) & inexact
    bits = np.where(inexact & ~np.isnan(single), (bits - toward.astype(np.uint32)) | np.uint32(1), bits)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(single), np.uint32(0x7FC0), rounded).astype(np.uint16)


def _widened(raw: Array) -> Array:
    return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)


_INTEGERS: dict[str, tuple[str, Combine]] = {
    "add": ("u", np.add), "sub": ("u", np.subtract), "rsub": ("u", lambda old, new: new - old),
    "smin": ("i", np.minimum), "umin": ("u", np.minimum), "smax": ("i", np.maximum), "umax": ("u", np.maximum),
    "and": ("u", np.bitwise_and), "or": ("u", np.bitwise_or), "xor": ("u", np.bitwise_xor),
    "inc": ("u", _increment), "dec": ("u", _decrement), "swap": ("u", _swap),
}  # fmt: skip
_FLOATS: dict[str, Combine] = {"add": np.add, "min": np.fmin, "max": np.fmax}
_LOCAL_NAMES = {
    "add_u": "add", "sub_u": "sub", "rsub_u": "rsub", "inc_u": "inc", "dec_u": "dec", "min_i": "smin", "max_i": "smax",
    "min_u": "umin", "max_u": "umax", "and_b": "and", "or_b": "or", "xor_b": "xor", "wrxchg_b": "swap",
}  # fmt: skip


def _operations() -> Iterator[tuple[str, Atomic]]:
    for name, (sign, combine) in _INTEGERS.items():
        yield name, Atomic(np.dtype(f"{sign}4"), 1, combine)
        yield f"{name}_x2", Atomic(np.dtype(f"{sign}8"), 1, combine)
    for name, combine in _FLOATS.items():
        yield f"{name}_f32", Atomic(np.dtype(np.float32), 1, combine)
        yield f"{name}_f64", Atomic(np.dtype(np.float64), 1, combine)
    yield "pk_add_f16", Atomic(np.dtype(np.float16), 2, np.add)
    yield "pk_add_bf16", Atomic(np.dtype(np.uint16), 2, _add_bfloat)


_EVERY = dict(_operations())
_LOCAL_ALONE = ("rsub", "rsub_x2", "min_f32", "max_f32")

GLOBAL = {name: one for name, one in _EVERY.items() if name not in _LOCAL_ALONE}
"""By what follows ``global_atomic_``."""
LOCAL = {f"{name}32": _EVERY[there] for name, there in _LOCAL_NAMES.items()}
LOCAL |= {f"{name}64": _EVERY[f"{there}_x2"] for name, there in _LOCAL_NAMES.items()}
LOCAL |= {name: one for name, one in _EVERY.items() if "_f" in name or "_bf" in name}
"""By what follows ``ds_``."""


def in_turn(addresses: Array) -> Iterator[Array]:
    """Yield indices in rounds of different addresses: lanes with the same one take their turns in order."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    starts = np.flatnonzero(first)
    rank = np.arange(len(order)) - starts[np.cumsum(first) - 1]
    for turn in range(int(rank.max()) + 1):
        yield order[rank == turn]
