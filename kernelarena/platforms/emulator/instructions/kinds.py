"""The kinds of operands: how the bits of registers are shown to a function, and taken from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Kind:
    """One kind of operand.

    Attributes
    ----------
    name
        As signatures have it.
    dtype
        Of the array that a function gets.
    registers
        How many 32-bit registers hold it.
    parts
        Elements along the last axis; 0 for a plain value.
    sign
        The bit of the sign in one element, for neg and abs; 0 where these mean nothing.
    flushes
        Whether denormals may be flushed: the field of the MODE register, ``"32"`` or ``"16_64"``; empty for never.
    keeps
        As a result: the other half of the register stays.
    """

    name: str
    dtype: np.dtype[Any]
    registers: int = 1
    parts: int = 0
    sign: int = 0
    flushes: str = ""
    keeps: bool = False

    @property
    def bits(self) -> int:
        """Bits of one element."""
        return self.dtype.itemsize * 8


def _kinds() -> dict[str, Kind]:
    plain = {
        "b32": Kind("b32", np.dtype(np.uint32), sign=1 << 31),
        "u32": Kind("u32", np.dtype(np.uint32)),
        "i32": Kind("i32", np.dtype(np.int32)),
        "f32": Kind("f32", np.dtype(np.float32), sign=1 << 31, flushes="32"),
        "mix": Kind("mix", np.dtype(np.float32), sign=1 << 31, flushes="32"),
        "b64": Kind("b64", np.dtype(np.uint64), 2, sign=1 << 63),
        "u64": Kind("u64", np.dtype(np.uint64), 2),
        "i64": Kind("i64", np.dtype(np.int64), 2),
        "f64": Kind("f64", np.dtype(np.float64), 2, sign=1 << 63, flushes="16_64"),
    }
    for name, dtype, sign, flushes in (
        ("u16", np.uint16, 0, ""),
        ("i16", np.int16, 0, ""),
        ("f16", np.float16, 1 << 15, "16_64"),
        ("bf16", np.uint16, 1 << 15, ""),
    ):
        plain[name] = Kind(name, np.dtype(dtype), sign=sign, flushes=flushes)
        plain[f"{name}lo"] = Kind(f"{name}lo", np.dtype(dtype), sign=sign, flushes=flushes, keeps=True)
        plain[f"v2{name}"] = Kind(f"v2{name}", np.dtype(dtype), parts=2, sign=sign, flushes=flushes)
    for name in ("f32", "u32", "i32"):
        one = plain[name]
        plain[f"v2{name}"] = Kind(f"v2{name}", one.dtype, 2, parts=2, sign=one.sign, flushes=one.flushes)
    for name, narrow in (("i8", np.int8), ("u8", np.uint8)):
        plain[f"v4{name}"] = Kind(f"v4{name}", np.dtype(narrow), parts=4)
    for name in ("mask", "scc", "vcc"):
        plain[name] = Kind(name, np.dtype(np.bool_), 2 if name != "scc" else 0)
    return plain


KINDS = _kinds()
"""Every kind by name."""


@dataclass(frozen=True)
class Signature:
    """Kinds of sources and results; ``dst`` and ``op_sel`` among the sources are told by name.

    Attributes
    ----------
    sources, results
        Names of kinds, in the order of the assembly text.
    """

    sources: tuple[str, ...]
    results: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Signature:
        """Read ``"f32 f32 -> f32"``.

        Raises
        ------
        ValueError
            If a kind is not known: a fault in a table.
        """
        left, arrow, right = text.partition("->")
        sources, results = tuple(left.split()), tuple(right.split())
        unknown = [name for name in (*sources, *results) if name not in KINDS and name not in ("dst", "op_sel")]
        if not arrow or unknown:
            raise ValueError(f"signature {text!r}: {' '.join(unknown) or 'an arrow is missing'}")
        return cls(sources, results)

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The sources that the assembly text names."""
        return tuple(name for name in self.sources if name not in ("dst", "op_sel", "vcc", "scc"))
