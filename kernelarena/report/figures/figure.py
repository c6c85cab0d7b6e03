"""What a figure of the report is: panels that a charting library draws, with their numbers, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from kernelarena import metrics
from kernelarena.report.view import View
from kernelarena.spec import Baseline, Evidence

Spec: TypeAlias = "dict[str, Any]"
"""A Vega-Lite specification as plain data, its colours written as custom properties of the style sheet."""

_BESIDE = {
    Baseline.EAGER: "PyTorch eager",
    Baseline.COMPILE: "torch.compile",
    Baseline.SHIPPED: "the task’s shipped kernel",
    Baseline.ORIGINAL: "its original",
}


@dataclass(frozen=True)
class Panel:
    """One chart of a figure. Kinds of evidence are never in one panel together."""

    title: str
    """What tells it from its neighbours; empty where it has none."""
    spec: Spec
    description: str
    """What one would see, for those who do not."""


@dataclass(frozen=True)
class Numbers:
    """What a figure is drawn from, as a table: for those who cannot see it, and those who want to quote it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Of the first columns' texts and the others' figures, written out."""
    texts: int = 1
    """How many of the columns, from the first, hold text."""


@dataclass(frozen=True)
class Figure:
    """A question that a picture answers."""

    id: str
    title: str
    note: str
    """How to read it, and what it says, in a few sentences."""
    evidence: tuple[Evidence, ...]
    panels: tuple[Panel, ...]
    numbers: Numbers

    @property
    def narrow(self) -> bool:
        """Whether half the width of the page is enough."""
        return len(self.panels) == 1


@dataclass(frozen=True)
class Missing:
    """A figure for which the run has no data."""

    id: str
    title: str
    why: str


@dataclass(frozen=True)
class Material:
    """What figures are made of: the run as it is read, and as tidy frames."""

    view: View

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row a cell.

        A speedup that is no ratio (of a time that was none) is not known. What beats the roofline, because its operands
        lie in a cache, has an efficiency of 1, as the metrics demand: more than all there is to reach is no reach.
        """
        found = metrics.cells(self.view.data.verdicts, self.view.data.kernels)
        ratio = (found["speedup"] > 0) & np.isfinite(found["speedup"])
        known: pd.DataFrame = found.assign(
            speedup=found["speedup"].where(ratio), architectural=found["architectural"].clip(lower=0, upper=1)
        )
        return known

    @property
    def baseline(self) -> str:
        """What the run's kernels were timed beside, in words."""
        return _BESIDE[self.view.data.manifest.sweep.timing.baseline]

    @property
    def platforms(self) -> list[str]:
        """The platforms in the order of the run."""
        return [column.id for column in self.view.columns]

    def measured(self) -> list[str]:
        """Return the platforms on which something was measured, in the order of the run."""
        seen = set(self.cells.loc[self.cells["evidence"] == Evidence.MEASURED.value, "platform"])
        return [platform for platform in self.platforms if platform in seen]
