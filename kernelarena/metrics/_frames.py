"""Tidy data frames of a run: one row a cell, one row a timed shape. What the metrics below are functions of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from kernelarena.metrics._counts import JUDGED
from kernelarena.spec import Evidence, Kernel, Status, Verdict

RESOURCES = ("threads_per_block", "warps", "stages", "shared_memory", "registers", "spills", "scratch", "occupancy")
_TEXT = ("task", "kernel", "language", "home", "platform", "evidence", "status", "gate", "reason", "baseline")
_PROVENANCE = ("agent", "model")
_NUMBERS = (
    "visible_passed",
    "visible_total",
    "hidden_passed",
    "hidden_total",
    "speedup",
    "speedup_low",
    "speedup_high",
    "architectural",
    "iterations",
    "tokens",
    *RESOURCES,
)
_HAS_SPEED = "has_speed"
CELL_COLUMNS = (*_TEXT, *_PROVENANCE, *_NUMBERS, _HAS_SPEED)
"""Of the frame of cells. Words are those of the vocabulary; what is unknown is missing, never 0. The last column says
whether the task asks for speed at all."""
_TIMING_TEXT = ("task", "kernel", "platform", "evidence", "status", "shape", "dtype", "baseline", "claim")
_TIMING_NUMBERS = ("seconds", "baseline_seconds", "speedup", "speedup_low", "speedup_high", "noise", "architectural")
TIMING_COLUMNS = (*_TIMING_TEXT, *_TIMING_NUMBERS)
"""Of the frame of timed shapes: seconds, ratios, and shares from 0 to 1."""


def cells(verdicts: Iterable[Verdict], kernels: Mapping[str, Kernel] | None = None) -> pd.DataFrame:
    """Return one row a cell, with the columns `CELL_COLUMNS`.

    Parameters
    ----------
    verdicts
        Of one run: (kernel, platform) occurs once.
    kernels
        Where provenance (agent, model, iterations, tokens) comes from; without them it is unknown.

    Returns
    -------
    DataFrame
        Text columns hold the vocabulary's words or None; number columns are float64 with NaN for unknown.
        ``speedup`` is over the baseline, ``architectural`` the roofline's time over the kernel's, ``tokens`` what a
        model read and wrote, and known only where both are.
    """
    rows = [_cell(verdict, None if kernels is None else kernels.get(verdict.kernel)) for verdict in verdicts]
    found = _typed(rows, (*_TEXT, *_PROVENANCE), _NUMBERS)
    found[_HAS_SPEED] = pd.Series([row[_HAS_SPEED] for row in rows], dtype=bool)
    return found


def timings(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Return one row a timed shape, with the columns `TIMING_COLUMNS`; shapes without a time are left out."""
    rows = [
        {
            "task": verdict.task,
            "kernel": verdict.kernel,
            "platform": verdict.platform,
            "evidence": _word(verdict.evidence),
            "status": _word(verdict.status),
            "shape": str(timed.shape),
            "dtype": timed.shape.dtype,
            "claim": timed.claim,
            "seconds": timed.kernel,
            "baseline_seconds": timed.baseline,
            "noise": timed.noise,
            "architectural": timed.efficiency,
            **_speedup(timed.speedup),
        }
        for verdict in verdicts
        for timed in verdict.timings
        if timed.kernel is not None
    ]
    return _typed(rows, _TIMING_TEXT, _TIMING_NUMBERS)


def checked(frame: pd.DataFrame, columns: Sequence[str], unique: Sequence[str] = ()) -> pd.DataFrame:
    """Return the frame if a metric can be computed from it.

    Raises
    ------
    TypeError
        If it is no data frame.
    ValueError
        If it lacks a column, or rows that ``unique`` should tell apart are the same: two verdicts on one cell would
        count twice, and only the caller knows which of them is meant.
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"expected a pandas.DataFrame, not {type(frame).__name__}")
    if missing := [name for name in columns if name not in frame.columns]:
        raise ValueError(f"the frame lacks the column {', '.join(missing)}; make it with metrics.cells(verdicts)")
    if unique and frame.duplicated(list(unique)).any():
        first = frame[frame.duplicated(list(unique))].iloc[0]
        raise ValueError(f"two rows for {' on '.join(str(first[name]) for name in unique)}; keep one of them")
    return frame


def one_scale(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame if its speedups may be averaged: all of them over one kind of baseline.

    The kind is what stands before a colon: a shipped kernel is another one for each task, as the eager reference is.

    Raises
    ------
    ValueError
        If they are over several.
    """
    kinds = {str(name).partition(":")[0] for name in frame.loc[frame["speedup"].notna(), "baseline"].dropna()}
    if len(kinds) > 1:
        raise ValueError(f"speedups over {' and '.join(sorted(kinds))} have no mean; keep those over one of them")
    return frame


def judged(frame: pd.DataFrame, evidence: Evidence | None = None) -> pd.DataFrame:
    """Return the rows that say something about a kernel, of one kind of evidence where one is given."""
    chosen: pd.DataFrame = frame[frame["status"].isin([status.value for status in JUDGED])]
    return chosen if evidence is None else chosen[chosen["evidence"] == evidence.value]


def with_speed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of tasks that ask for speed: of what only looks at memory otherwise, no figure of speed tells."""
    if _HAS_SPEED not in frame.columns:
        return frame
    chosen: pd.DataFrame = frame[frame[_HAS_SPEED].ne(False)]
    return chosen


def passed(frame: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows passed."""
    return frame["status"] == Status.PASS.value


def grouped(frame: pd.DataFrame, by: Sequence[str]) -> list[tuple[dict[str, Any], pd.DataFrame]]:
    """Return the rows of each group with what they share, in the order of first occurrence; one group without ``by``.

    Rows in which a grouping column is unknown belong to no group.
    """
    if not by:
        return [({}, frame)] if len(frame) else []
    groups = frame.groupby(list(by), sort=False)
    return [(dict(zip(by, key, strict=True)), rows) for key, rows in groups]


def table(rows: Iterable[Any], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows (mappings, or sequences in the columns' order) as a frame that has its columns even if empty."""
    found: pd.DataFrame = pd.DataFrame(list(rows), columns=list(columns))
    return found


def _cell(verdict: Verdict, kernel: Kernel | None) -> dict[str, object]:
    row: dict[str, object] = {name: _word(getattr(verdict, name)) for name in _TEXT if name != "baseline"}
    row[_HAS_SPEED] = verdict.has_speed
    row |= _speedup(verdict.speedup)
    row |= {"visible_passed": verdict.visible.passed, "visible_total": verdict.visible.total}
    row |= {"hidden_passed": verdict.hidden.passed, "hidden_total": verdict.hidden.total}
    if verdict.efficiency is not None:
        row["architectural"] = verdict.efficiency.architectural
    if verdict.resources is not None:
        row |= {name: getattr(verdict.resources, name) for name in RESOURCES}
    if kernel is not None:
        told = kernel.provenance
        row |= {"agent": told.agent, "model": told.model, "iterations": told.iterations}
        if told.tokens.input is not None and told.tokens.output is not None:
            row["tokens"] = told.tokens.input + told.tokens.output
    return row


def _speedup(ratio: Any) -> dict[str, object]:
    if ratio is None:
        return {}
    low, high = ratio.ci
    return {"speedup": ratio.median, "speedup_low": low, "speedup_high": high, "baseline": ratio.baseline}


def _word(value: object) -> str | None:
    return None if value is None else str(value)


def _typed(rows: list[dict[str, object]], text: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    columns = {name: pd.Series([row.get(name) for row in rows], dtype=object) for name in text}
    figures = {name: pd.Series([row.get(name) for row in rows], dtype="float64") for name in numbers}
    found: pd.DataFrame = pd.DataFrame({**columns, **figures})
    return found
