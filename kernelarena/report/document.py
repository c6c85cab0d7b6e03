"""The models of ``report.json``: what its fields mean, and what its JSON Schema is made from.

Fields are added, never renamed. Everything that differs between two runs of the same kernels under the same seed
(dates, durations, what a clock or a meter said, what came from a cache) is in ``run`` or named in `VOLATILE`, so that a
comparison can leave it out.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel

from kernelarena.spec import (
    Durations,
    Efficiency,
    Environment,
    Evidence,
    Family,
    FamilyTally,
    Gate,
    Language,
    Location,
    Reason,
    Resources,
    Shape,
    Speedup,
    Status,
    Sweep,
    Tally,
    Telemetry,
    TimedShape,
)
from kernelarena.spec.base import Model

SCHEMA: Final = "kernelarena.report/1"
VOLATILE: Final = frozenset(
    {"duration_s", "durations", "attempts", "cached", "telemetry", "timings", "speedup", "efficiency"}
)
"""Fields of a cell that say how it was judged and not what was found."""


class Rate(Model):
    """Passed of judged."""

    passed: int
    total: int
    share: float | None
    """``passed / total``; null of nothing."""


class HiddenShare(Model):
    """Visible and hidden correctness over the same cells."""

    visible: Rate
    """Cells that passed every gate before the hidden one."""
    hidden: Rate
    """Cells that passed the hidden one as well."""
    gap: float | None
    """``visible.share - hidden.share``."""
    by_family: dict[Family, Rate]
    """Hidden shapes (not cells) over the cells that reached the gate."""


class PlatformEvidence(Model):
    """What one kind of evidence says about one platform."""

    passed: int
    failed: int
    rate: float | None
    """``passed / (passed + failed)``."""
    reasons: dict[Reason, int]
    """What failures were lost to, the most frequent first; adds up to ``failed``."""
    generalisation: HiddenShare | None
    """Null where nothing ran, or no cell reached the hidden gate."""


class PlatformSummary(Model):
    """One column of the matrix."""

    title: str
    vendor: str
    backend: str
    arch: str
    evidence: dict[Evidence, PlatformEvidence]
    """Kinds of evidence are never added up."""
    skipped: int
    """Cells that could not be tried here."""
    infra: int
    """Cells lost to something around the kernel."""
    pending: int
    """Cells without a verdict yet."""


class Spread(Model):
    """Where one kernel passes, as far as one kind of evidence tells."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    share: float | None
    """Platforms passed of platforms judged."""


class KernelPortability(Model):
    """One row of the matrix."""

    task: str
    home: str | None
    evidence: dict[Evidence, Spread]


class Retention(Model):
    """Of the kernels that pass at home, those that pass on another platform (the matched subset)."""

    home: str
    platform: str
    home_evidence: Evidence
    evidence: Evidence
    passed: int
    total: int
    share: float | None


class Portability(Model):
    """How kernels spread over platforms."""

    kernels: dict[str, KernelPortability]
    retention: tuple[Retention, ...]


class LaunchSummary(Model):
    """The device kernels that a cell launched."""

    distinct: int
    """Specialisations."""
    total: int
    """Launches over all shapes."""
    tuning: int
    """Specialisations that an autotuner tried."""
    unfit: int
    """Specialisations that cannot run on the platform."""
    names: tuple[str, ...]
    """Of the device functions, sorted."""


class FailedTrial(Model):
    """A call whose output was wrong."""

    shape: Shape
    reason: Reason | None
    detail: str
    error: float | None
    """Largest error in units of what the tolerance allows; null where it is not finite."""


class TrialSummary(Model):
    """The calls whose outputs were checked."""

    total: int
    failed: int
    worst_error: float | None
    """Largest finite error in units of what the tolerance allows (1 is the edge)."""
    failures: tuple[FailedTrial, ...]
    """The first few."""


class Cell(Model):
    """The outcome of one (kernel, platform)."""

    task: str
    kernel: str
    language: Language
    home: str | None
    platform: str
    evidence: Evidence | None
    """Null for cells that nothing is known about (skipped, infra)."""
    status: Status
    gate: Gate | None
    """The gate that failed, or the last one that passed."""
    reason: Reason | None
    """Null exactly when the status is ``pass``."""
    detail: str
    location: Location | None
    """The line of the kernel's source that the verdict points at."""
    visible: Tally
    hidden: FamilyTally
    speedup: Speedup | None
    efficiency: Efficiency | None
    resources: Resources | None
    """Of the launch with the lowest occupancy among those that count."""
    telemetry: Telemetry | None
    toolchain: str | None
    notes: tuple[str, ...]
    timings: tuple[TimedShape, ...]
    """What was timed, shape by shape; empty where nothing was."""
    launches: LaunchSummary
    trials: TrialSummary
    log: str
    """The end of what the compiler or the kernel printed."""
    duration_s: float
    durations: Durations
    attempts: int
    cached: bool


class RunFacts(Model):
    """Which run this is, and where and how it ran."""

    id: str
    created: str
    finished: str | None
    """Null while the run goes on, or when it was interrupted."""
    command: tuple[str, ...]
    sweep: Sweep
    platforms: tuple[str, ...]
    kernels: tuple[str, ...]
    hidden_seed_sha256: str | None
    hidden_seed: int | None
    environment: Environment
    left_out: tuple[str, ...]
    isolation: dict[str, int] | None
    """Layers of isolation that kernels' processes lacked, with the reason, and in how many cells; empty where they had
    all, null where no process was started."""
    duration_s: float
    """Time spent on the cells, summed over workers."""


class Report(Model):
    """``report.json``."""

    schema_version: Literal["kernelarena.report/1"] = SCHEMA
    summary: tuple[str, ...]
    """The answer in plain words."""
    run: RunFacts
    cells: tuple[Cell, ...]
    """Kernels in the run's order, then platforms in its order; only cells with a verdict."""
    platforms: dict[str, PlatformSummary]
    portability: Portability


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report, from which ``schema/report-1.schema.json`` is written."""
    return published(Report, SCHEMA)


def published(model: type[BaseModel], name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document whose ``schema_version`` is written as ``schema``.

    Unknown fields are allowed in it, though the models refuse them: a program that checks documents by it must go on
    working when a later release adds a field.
    """
    schema: dict[str, Any] = model.model_json_schema(mode="serialization")
    schema["properties"] = {"schema": {"const": name}, **schema["properties"]}
    del schema["properties"]["schema_version"]
    schema["required"] = ["schema", *(field for field in schema["required"] if field != "schema_version")]
    for part in (schema, *schema["$defs"].values()):
        part.pop("additionalProperties", None)
    urn = "urn:" + name.replace(".", ":").replace("/", ":")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": urn, **schema}


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    """Return what two reports of the same work must have in common, whenever and however often it was interrupted.

    Parameters
    ----------
    report
        A ``report.json`` as read by ``json.load``; it is left as it is.

    Returns
    -------
    dict
        The report without ``run`` and without each cell's volatile fields.
    """
    cells = [{key: value for key, value in cell.items() if key not in VOLATILE} for cell in report["cells"]]
    return {**{key: value for key, value in report.items() if key != "run"}, "cells": cells}
