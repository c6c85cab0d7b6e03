"""Holds an entry of the tables against the pseudo-code, lane by lane."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.instructions.kinds import KINDS, Array
from kernelarena.platforms.emulator.instructions.registry import Entry
from tests.platforms.emulator.oracle.evaluate import Lane
from tests.platforms.emulator.oracle.numbers import Bits
from tests.platforms.emulator.oracle.operands import operands

_WAVES, _LANES = 3, 64
_CONSTANT_LAST = ("v_fmaak_f32", "v_madak_f16")
_CONSTANT_SECOND = ("v_fmamk_f32", "v_madmk_f16")


def differences(entry: Entry, target: str, said: Any = None, **modifiers: int) -> list[str]:
    """Return where an instruction gives other bits than its pseudo-code, as text; NaNs are all alike.

    Parameters
    ----------
    entry
        The instruction.
    target
        The chip.
    said
        Given the operands, tells for which of them the pseudo-code is to be believed; for all, if None.
    modifiers
        What else the instruction is given by name.
    """
    signature = entry.signature
    assert signature is not None
    shape = (_WAVES, _LANES) if entry.unit == "vector" else (_WAVES * _LANES,)
    sources = tuple(name for name in signature.sources if name != "op_sel")
    kinds = tuple(signature.results[0] if name == "dst" else name for name in sources)
    given = operands(kinds, shape, seed=zlib.crc32(entry.mnemonic.encode()))
    op_sel = modifiers.pop("op_sel", 0)
    selection = [tuple(op_sel >> bit & 1 for bit in range(4))] if "op_sel" in signature.sources else []
    with np.errstate(all="ignore"):
        made = entry.function(*given, *selection, **modifiers)
        believed = np.ones(shape, bool) if said is None else said(*given)
    results = [np.asarray(part) for part in (made if isinstance(made, tuple) else (made,))]
    for result, name in zip(results, signature.results, strict=True):
        assert result.dtype == KINDS[name].dtype, f"{name} is {result.dtype}"
    wide = entry.mnemonic.startswith("v_mad_")
    found = []
    for place in np.ndindex(shape):
        if not believed[place]:
            continue
        lane = place[-1] if entry.unit == "vector" else 0
        before = _variables(entry.mnemonic, sources, [_bits(array, place) for array in given], lane)
        before |= {"TTBL": Bits("b", 8, modifiers.get("bitop3", 0)), "OPSEL": Bits("u", 4, op_sel)}
        after = Lane(target, before).run(entry.mnemonic).variables
        for index, (name, result) in enumerate(zip(signature.results, results, strict=True)):
            full = np.broadcast_to(result, (*shape, *result.shape[len(shape) :]))
            ours, theirs = _bits(full, place), _told(after, index, lane, name, wide)
            if not all(map(_alike, _parts(ours, name), _parts(theirs, name), [name] * 4)):
                text = ", ".join(f"{array[place]!r}" for array in given)
                found.append(f"{entry.mnemonic}({text}) at lane {lane}: {ours:#x}, and the guide says {theirs:#x}")
    return found


def _bits(array: Array, place: tuple[int, ...]) -> int:
    value = np.atleast_1d(array[place])
    if value.dtype == np.bool_:
        return int(value[0])
    return int.from_bytes(np.ascontiguousarray(value).tobytes(), "little")


def _variables(mnemonic: str, sources: tuple[str, ...], given: list[int], lane: int) -> dict[str, Any]:
    found: dict[str, Any] = {"laneId": Bits("u", 32, lane)}
    plain = []
    for name, value in zip(sources, given, strict=True):
        if name == "dst":
            found["D0"] = Bits("b", 64, value)
        elif name in ("mask", "vcc"):
            found["VCC"] = Bits("b", 64, value << lane)
        elif name == "scc":
            found["SCC"] = Bits("u", 1, value)
        else:
            plain.append(Bits("b", 64, value))
    if mnemonic in (*_CONSTANT_LAST, *_CONSTANT_SECOND):
        constant = plain.pop(1 if mnemonic in _CONSTANT_SECOND else 2)
        found["SIMM32"] = found["SIMM16"] = constant
    return found | {f"S{number}": value for number, value in enumerate(plain)}


def _told(after: dict[str, Any], index: int, lane: int, name: str, wide: bool) -> int:
    """Return a result; that of a sum of more than 64 bits has its last one in ``D1``."""
    if name == "scc":
        return int(after["SCC"].bits & 1)
    if name == "mask":
        if index == 0:  # of a comparison
            return int(after["D0"].bits >> lane & 1)
        return int((after["D1"].bits if wide else after["VCC"].bits >> lane) & 1)
    kind = KINDS[name]
    width = kind.bits * max(kind.parts, 1)
    return int(after["D0"].bits & ((1 << width) - 1))


def _parts(value: int, name: str) -> list[int]:
    kind = KINDS[name]
    width = 1 if kind.dtype == np.bool_ else kind.bits
    return [value >> width * part & ((1 << width) - 1) for part in range(max(kind.parts, 1))]


def _alike(ours: int, theirs: int, name: str) -> bool:
    if ours == theirs:
        return True
    kind = KINDS[name]
    if kind.dtype.kind != "f" and "bf16" not in name:
        return False
    digits = 7 if "bf16" in name else int(np.finfo(kind.dtype).nmant)
    infinity = ((1 << (kind.bits - 1 - digits)) - 1) << digits
    size = (1 << (kind.bits - 1)) - 1
    return ours & size > infinity and theirs & size > infinity
