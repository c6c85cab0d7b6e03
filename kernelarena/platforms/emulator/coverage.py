"""Which instructions are modelled, in groups, for those who ask before they rely on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from kernelarena.platforms.emulator.instructions import mnemonics
from kernelarena.platforms.emulator.instructions.atomic import GLOBAL, LOCAL
from kernelarena.platforms.emulator.program import TARGETS
from kernelarena.platforms.emulator.units import control, lanes, local, mode, saveexec
from kernelarena.platforms.emulator.units.widths import LOADS, STORES

_VECTOR = (
    ("comparisons", re.compile(r"v_cmpx?_")),
    ("conversions", re.compile(r"v_cvt_|v_pack_")),
    ("dot products", re.compile(r"v_dot")),
    ("packed", re.compile(r"v_pk_")),
    ("float64", re.compile(r"\w+_f64$")),
    ("float32", re.compile(r"\w+_(legacy_)?f32$")),
    ("float16 and bfloat16", re.compile(r"\w+_(legacy_)?b?f16$")),
    ("integers and bits", re.compile(r"")),
)


_NEWEST = re.compile(r"ds_read_b64_tr_|v_permlane\d+_swap")
"""Instructions beyond the tables that only the newest chip has."""


@cache
def coverage(target: str) -> dict[str, tuple[str, ...]]:
    """Return the mnemonics that are modelled for a chip, by group.

    Parameters
    ----------
    target
        ``gfx942``.
    """
    found: dict[str, set[str]] = {}
    for group, name in _named(target):
        if _NEWEST.match(name) and target != TARGETS[-1]:
            continue
        found.setdefault(group, set()).add(name)
    return {group: tuple(sorted(names)) for group, names in found.items()}


def _named(target: str) -> Iterator[tuple[str, str]]:
    for entry in mnemonics(target):
        yield _group(entry.unit, entry.mnemonic), entry.mnemonic
    for name in (*saveexec.NAMES, *saveexec.WRITE_NAMES, *control.NAMES, *mode.NAMES):
        yield "scalar", name
    for name in lanes.NAMES:
        yield "between lanes", name
    for count in ("", "x2", "x4", "x8", "x16"):
        yield "scalar memory", f"s_load_dword{count}"
        yield "scalar memory", f"s_buffer_load_dword{count}"
    for family in ("buffer", "global", "flat", "scratch"):
        yield from (("vector memory", f"{family}_load_{form}") for form in LOADS)
        yield from (("vector memory", f"{family}_store_{form}") for form in STORES)
        if family != "scratch":
            yield from (("atomics", f"{family}_atomic_{form}") for form in (*GLOBAL, "cmpswap", "cmpswap_x2"))
    yield from (("local memory", name) for name in local.names())
    yield from (("atomics", f"ds_{form}") for form in (*LOCAL, "cmpst_b32", "cmpst_b64"))


def _group(unit: str, mnemonic: str) -> str:
    if unit != "vector":
        return unit
    return "vector: " + next(group for group, pattern in _VECTOR if pattern.match(mnemonic))


def table(targets: tuple[str, ...]) -> str:
    """Return a Markdown table: how many instructions of each group are modelled for each chip."""
    by_target = [coverage(target) for target in targets]
    groups = sorted({group for one in by_target for group in one})
    lines = ["| group | " + " | ".join(targets) + " |", "| --- |" + " --- |" * len(targets)]
    lines += [
        f"| {group} | " + " | ".join(str(len(one.get(group, ()))) for one in by_target) + " |" for group in groups
    ]
    return "\n".join(lines) + "\n"
