"""Operands to try instructions on: special ones, any pattern of bits, and ordinary ones, mixed."""

from __future__ import annotations

import numpy as np

from kernelarena.platforms.emulator.instructions.kinds import KINDS, Array, Kind

_SPECIAL_FLOATS = (
    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, 127.0, 128.0, 255.5, 256.0, -32768.5, 65504.0, 2.0**31,
    -(2.0**31), 2.0**32, 448.0, 464.0, 240.0, 248.0, 57344.0, np.inf, -np.inf,
)  # fmt: skip
_SPECIAL_INTEGERS = (0, 1, 2, 5, 7, 8, 12, 13, 15, 16, 17, 23, 31, 32, 33, 63, 64, 127, 128, 255, 0x0C0D_0E0F)


def operand(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return an operand of a kind, in the form that the contract gives it."""
    kind = KINDS[name]
    if kind.dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    shape = (*shape, kind.parts) if kind.parts else shape
    words = rng.integers(0, 256, (*shape, kind.dtype.itemsize), dtype=np.uint8)
    anything = np.ascontiguousarray(words).view(kind.dtype)[..., 0]
    sort = rng.integers(0, 4, shape)
    return np.where(sort < 2, _special(kind, shape, rng), np.where(sort == 2, _ordinary(kind, shape, rng), anything))


def _special(kind: Kind, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    with np.errstate(all="ignore"):
        if kind.dtype.kind == "f":
            info = np.finfo(kind.dtype)
            edges = [info.max, info.min, info.smallest_normal, info.smallest_subnormal, 1 + info.eps, 1 - info.epsneg]
            edges += [-info.smallest_normal, info.smallest_normal - info.smallest_subnormal, 2.0**info.nmant + 1]
            chosen = np.array([*_SPECIAL_FLOATS, *edges], dtype=kind.dtype)
            unsigned = np.dtype(f"u{kind.dtype.itemsize}")
            infinity = int(np.array(np.inf, kind.dtype).view(unsigned))
            nans = np.array([infinity | 1, infinity | 1 << (info.nmant - 1)], unsigned).view(kind.dtype)
            return rng.choice(np.concatenate([chosen, nans]), shape)
        if kind.name.endswith("bf16"):
            patterns = [0, 0x8000, 0x3F80, 0xBF80, 1, 0x007F, 0x0080, 0x7F7F, 0x7F80, 0xFF80, 0x7F81, 0x7FC0]
            return rng.choice(np.array(patterns, np.uint16), shape)
        info_of_integers = np.iinfo(kind.dtype)
        limits = [info_of_integers.min, info_of_integers.max, info_of_integers.max // 2 + 1, info_of_integers.max - 1]
        chosen = np.array([value & int(info_of_integers.max) for value in _SPECIAL_INTEGERS] + limits, kind.dtype)
        return rng.choice(chosen, shape)


def _ordinary(kind: Kind, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    if kind.dtype.kind == "f":
        return (rng.standard_normal(shape) * 2.0 ** rng.integers(-8, 8, shape)).astype(kind.dtype)
    return rng.integers(0, 100, shape).astype(kind.dtype)


def operands(sources: tuple[str, ...], shape: tuple[int, ...], seed: int) -> list[Array]:
    """Return operands of several kinds; those of one kind are now and then the same number, or opposite ones."""
    rng = np.random.default_rng(seed)
    found = [operand(name, shape, rng) for name in sources]
    for place in range(1, len(found)):
        if sources[place] == sources[0] and found[0].dtype != np.bool_:
            same = rng.integers(0, 6, found[0].shape) == 0
            found[place] = np.where(same, found[0], found[place])
    if len(found) == 3 and found[0].dtype.kind == "f" and found[2].dtype == found[0].dtype:
        with np.errstate(all="ignore"):  # where the rounded product is taken away again, only a fused one is right
            cancelling = -(found[0] * found[1])
        found[2] = np.where(rng.integers(0, 4, found[2].shape) == 0, cancelling, found[2])
    return found
