"""The tidy table of a run, one row a cell: what CSV and Parquet hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kernelarena.report.text import one_line
from kernelarena.spec import HIDDEN_FAMILIES, Tally, Verdict

_WORDS = ("task", "kernel", "language", "home", "platform", "evidence", "status", "gate", "reason", "detail")
_RESOURCES = ("threads_per_block", "warps", "stages", "shared_memory", "registers", "spills", "scratch")
_TELEMETRY = ("power", "energy", "clock", "memory_clock", "temperature")

COLUMNS: Final[Mapping[str, type]] = {
    **dict.fromkeys(_WORDS, str),
    "file": str,
    "line": int,
    "visible_passed": int,
    "visible_total": int,
    "hidden_passed": int,
    "hidden_total": int,
    **{
        f"hidden_{family.value.replace('-', '_')}_{part}": int
        for family in HIDDEN_FAMILIES
        for part in ("passed", "total")
    },
    **dict.fromkeys(_RESOURCES, int),
    "occupancy": float,
    "toolchain": str,
    "notes": str,
    "duration_s": float,
    "speedup": float,
    "speedup_low": float,
    "speedup_high": float,
    "baseline": str,
    "efficiency_architectural": float,
    "efficiency_application": float,
    **dict.fromkeys(_TELEMETRY, float),
}
"""Names and types, in order. Columns are added at the end, never renamed. Units: bytes, seconds, W, J, MHz, °C."""


def row(verdict: Verdict) -> dict[str, object]:
    """Return one cell: harmless text on one line, numbers, and None for what is unknown or what a column lacks."""
    found: dict[str, object] = {name: _text(getattr(verdict, name)) for name in _WORDS}
    if verdict.location is not None:
        found |= {"file": _text(verdict.location.file), "line": verdict.location.line}
    found |= {"visible_passed": verdict.visible.passed, "visible_total": verdict.visible.total}
    found |= {"hidden_passed": verdict.hidden.passed, "hidden_total": verdict.hidden.total}
    for family in HIDDEN_FAMILIES:
        tally = verdict.hidden.by_family.get(family, Tally())
        name = f"hidden_{family.value.replace('-', '_')}"
        found |= {f"{name}_passed": tally.passed, f"{name}_total": tally.total}
    if verdict.resources is not None:
        found |= {name: getattr(verdict.resources, name) for name in (*_RESOURCES, "occupancy")}
    if (ratio := verdict.speedup) is not None:
        found |= {"speedup": ratio.median, "speedup_low": ratio.ci[0], "speedup_high": ratio.ci[1]}
        found["baseline"] = _text(ratio.baseline)
    if verdict.efficiency is not None:
        found["efficiency_architectural"] = verdict.efficiency.architectural
        found["efficiency_application"] = verdict.efficiency.application
    if verdict.telemetry is not None:
        found |= {name: getattr(verdict.telemetry, name) for name in _TELEMETRY}
    found |= {"toolchain": _text(verdict.toolchain), "notes": _text("; ".join(verdict.notes))}
    return {name: found.get(name) for name in COLUMNS} | {"duration_s": verdict.duration_s}


def _text(value: object) -> str | None:
    return None if value is None else one_line(value, limit=1_000)
