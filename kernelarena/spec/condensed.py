"""Verdicts as reports of many cells need them: calls that went well are counted and not kept one by one.

A run of 20,000 cells with 50 shapes each has a million checked calls, which as records take more than 2 GB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from kernelarena.spec.base import Model
from kernelarena.spec.shape import Shape
from kernelarena.spec.verdict import Count, TimedShape, Trial, Verdict
from kernelarena.spec.vocabulary import Family

KEPT = 8
"""Calls that failed, the first of each cell."""
_TIMED = set(TimedShape.model_fields)


class Checked(Model):
    """The calls of a cell whose outputs were checked."""

    total: Count = 0
    failed: Count = 0
    worst_visible: float | None = None
    """Largest finite error on a published shape, in units of what the tolerance allows; None of nothing."""
    worst_hidden: float | None = None
    """The same on hidden shapes."""

    @property
    def worst(self) -> float | None:
        """The largest of both."""
        return max((error for error in (self.worst_visible, self.worst_hidden) if error is not None), default=None)


class Condensed(Verdict):
    """A verdict whose ``trials`` are the first that failed, and all of them in figures."""

    checked: Checked


def checked(verdict: Verdict) -> Checked:
    """Return the figures of a verdict's calls, whether it keeps all of them or not."""
    if isinstance(verdict, Condensed):
        return verdict.checked
    return Checked(
        total=len(verdict.trials),
        failed=sum(not trial.passed for trial in verdict.trials),
        worst_visible=_worst(trial for trial in verdict.trials if trial.shape.family is Family.VISIBLE),
        worst_hidden=_worst(trial for trial in verdict.trials if trial.shape.family is not Family.VISIBLE),
    )


def condensed(verdict: Verdict, shapes: dict[Shape, Shape]) -> Condensed:
    """Return a verdict with only what reports tell of it.

    Parameters
    ----------
    verdict
        As it was stored.
    shapes
        Those of verdicts before it: cells of a task have theirs in common, and keep them in common.
    """
    failed = (trial for trial in verdict.trials if not trial.passed)
    fields = dict(verdict) | {
        "checked": checked(verdict),
        "trials": tuple(trial for trial, _ in zip(failed, range(KEPT), strict=False)),
        "timings": tuple(_sharing(timed, shapes) for timed in verdict.timings),
    }
    return Condensed.model_construct(_fields_set=verdict.model_fields_set, **fields)


def _sharing(timed: TimedShape, shapes: dict[Shape, Shape]) -> TimedShape:
    """Return a copy that shares its shape, and the note of which fields were given, which weighs as much as those."""
    fields = dict(timed) | {"shape": shapes.setdefault(timed.shape, timed.shape)}
    return TimedShape.model_construct(_fields_set=_TIMED, **fields)


def _worst(trials: Iterable[Trial]) -> float | None:
    return max((t.error for t in trials if t.error is not None and math.isfinite(t.error)), default=None)
