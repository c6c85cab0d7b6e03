"""The models of a comparison and of a history as JSON. Fields are added, never renamed."""

from __future__ import annotations

from typing import Any, Final, Literal

from kernelarena.report.document import Rate, published
from kernelarena.spec import Evidence, Gate, Reason, Shape, Status
from kernelarena.spec.base import Model

SCHEMA: Final = "kernelarena.comparison/1"
TREND_SCHEMA: Final = "kernelarena.trend/1"


class RunName(Model):
    """Which run."""

    id: str
    created: str
    finished: str | None
    versions: dict[str, str]


class Difference(Model):
    """Something that is not the same in both runs; empty where there is none."""

    name: str
    base: str
    new: str


class Side(Model):
    """What one run says of a cell."""

    status: Status
    evidence: Evidence | None
    gate: Gate | None
    reason: Reason | None
    detail: str


class CellChange(Model):
    """A cell whose outcome or evidence is another."""

    task: str
    kernel: str
    platform: str
    change: str
    """``new-failure``, ``fixed``, ``other-failure``, ``lost``, ``gained``, ``evidence``, ``hidden-shapes`` or ``same``
    (where the evidence alone is another)."""
    evidence_changed: bool
    source_changed: bool
    """Whether the kernel itself is another."""
    base: Side
    new: Side


class ResourceChange(Model):
    """A figure of a device function that is another."""

    task: str
    kernel: str
    platform: str
    function: str
    resource: str
    base: float
    new: float
    worse: bool
    signature: str
    """Empty where no specialisation is in both runs, and the worst of the one is held against that of the other."""


class TimeChange(Model):
    """A shape that was timed in both runs."""

    task: str
    kernel: str
    platform: str
    shape: Shape
    pace: str
    """``slower``, ``faster`` or ``none``."""
    ratio: float
    """New time over old time."""
    low: float
    high: float
    floor: float
    """The ratio that noise explains."""
    p: float
    relative: bool
    """Whether times are in units of the baseline that ran beside the kernel."""
    base_seconds: float | None
    new_seconds: float | None


class Breach(Model):
    """A condition of ``--fail-on`` that holds."""

    condition: str
    places: tuple[str, ...]


class UnmatchedCell(Model):
    """A cell that only one run has a verdict on."""

    kernel: str
    platform: str
    run: Literal["base", "new"]


class Comparison(Model):
    """``kab-mc compare --format json``."""

    schema_version: Literal["kernelarena.comparison/1"] = SCHEMA
    summary: tuple[str, ...]
    """The answer in plain words."""
    warnings: tuple[str, ...]
    base: RunName
    new: RunName
    environment: tuple[Difference, ...]
    redefined: tuple[Difference, ...]
    """Platforms and tasks that the runs define differently."""
    same_shapes: bool
    counts: dict[str, int]
    """Cells by what became of them, all of those in both runs."""
    cells: tuple[CellChange, ...]
    """Those of which something is another."""
    resources: tuple[ResourceChange, ...]
    times: tuple[TimeChange, ...]
    unmatched: tuple[UnmatchedCell, ...]
    breaches: tuple[Breach, ...]


class Change(Model):
    """What one step of a history changed."""

    counts: dict[str, int]
    slower: int
    faster: int
    resources_worse: int
    """Cells."""
    evidence_changed: int


class Step(Model):
    """One run of a history."""

    run: RunName
    platforms: dict[str, dict[Evidence, Rate]]
    common: dict[str, dict[Evidence, Rate]]
    """Over the cells that all runs have a verdict on."""
    since: Change | None
    """Null for the first."""


class Trend(Model):
    """``kab-mc trend --format json``."""

    schema_version: Literal["kernelarena.trend/1"] = TREND_SCHEMA
    summary: tuple[str, ...]
    warnings: tuple[str, ...]
    steps: tuple[Step, ...]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a comparison."""
    return published(Comparison, SCHEMA)


def trend_schema() -> dict[str, Any]:
    """Return the JSON Schema of a history."""
    return published(Trend, TREND_SCHEMA)
