"""The same facts arranged as people read them, for the terminal, markdown and HTML alike: rows, columns, failures."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from kernelarena.metrics import (
    RAN,
    Counts,
    Generalisation,
    Retention,
    Spread,
    by_platform,
    generalisation,
    portability,
)
from kernelarena.metrics import reasons as count_reasons
from kernelarena.metrics import retention as carried
from kernelarena.report import summary
from kernelarena.report.excerpt import Line, excerpt
from kernelarena.report.text import worth_reading
from kernelarena.spec import Evidence, Kernel, Launch, Manifest, Platform, Reason, RunData, Status, Trial, Verdict
from kernelarena.spec.condensed import checked


@dataclass(frozen=True)
class Column:
    """A platform."""

    id: str
    platform: Platform | None
    counts: Counts
    pending: int
    """Cells without a verdict yet."""
    generalisation: dict[Evidence, Generalisation]


@dataclass(frozen=True)
class Row:
    """A kernel with its cells, in the order of the columns; None where there is no verdict yet."""

    id: str
    kernel: Kernel | None
    cells: tuple[Verdict | None, ...]
    spread: dict[Evidence, Spread]

    @property
    def passes_everywhere(self) -> bool:
        """Whether every cell passed."""
        return all(cell is not None and cell.status is Status.PASS for cell in self.cells)


@dataclass(frozen=True)
class Failure:
    """One failure of one kernel, on every platform on which it failed in just the same way."""

    kernel: Kernel | None
    verdicts: tuple[Verdict, ...]
    source: list[Line]
    reproduce: str
    """The command that shows it again."""

    @property
    def first(self) -> Verdict:
        """The verdict that speaks for all."""
        return self.verdicts[0]

    @property
    def log(self) -> str:
        """What was printed on the first of the platforms where anything worth reading was."""
        return next((log for verdict in self.verdicts if (log := worth_reading(verdict.log))), "")

    @property
    def needs_launches(self) -> bool:
        """Whether what the launches need is the point of it."""
        return any(launch.reason is not None for verdict in self.verdicts for launch in verdict.launches)


@dataclass(frozen=True)
class Unknown:
    """Cells of a platform that nothing is known about, all for the same cause."""

    platform: str
    status: Status
    reason: Reason | None
    detail: str
    kernels: tuple[str, ...]


@dataclass(frozen=True)
class Loss:
    """A reason, and how many cells were lost to it with each kind of evidence."""

    reason: Reason
    counts: dict[Evidence, int]


@dataclass(frozen=True)
class View:
    """Everything that a report shows."""

    data: RunData
    sentences: list[str]
    unknown: str | None
    columns: list[Column]
    rows: list[Row]
    failures: list[Failure]
    losses: list[Loss]
    retention: list[Retention]
    unknowns: list[Unknown]
    isolation: str | None = None
    """How kernels were kept from what is not theirs, in words."""
    evidence: list[Evidence] = field(default_factory=list)
    """The kinds that occur, the strongest first."""

    @property
    def failed_rows(self) -> list[tuple[str, list[Failure]]]:
        """The failures by kernel, in the order of the rows."""
        groups: dict[str, list[Failure]] = {}
        for failure in self.failures:
            groups.setdefault(failure.first.kernel, []).append(failure)
        return list(groups.items())

    def with_status(self, *statuses: Status) -> list[Verdict]:
        """Return the cells that ended so."""
        return [verdict for verdict in self.data.verdicts if verdict.status in statuses]


def arrange(data: RunData) -> View:
    """Arrange a run for reading."""
    cells = {(verdict.kernel, verdict.platform): verdict for verdict in data.verdicts}
    spreads = portability(data.verdicts)
    counts = by_platform(data.verdicts)
    manifest = data.manifest
    columns = [
        Column(
            id=platform,
            platform=data.platforms.get(platform),
            counts=counts.get(platform, Counts()),
            pending=sum((kernel, platform) not in cells for kernel in manifest.kernels),
            generalisation=generalisation(v for v in data.verdicts if v.platform == platform),
        )
        for platform in manifest.platforms
    ]
    rows = [
        Row(
            id=kernel,
            kernel=data.kernels.get(kernel),
            cells=tuple(cells.get((kernel, platform)) for platform in manifest.platforms),
            spread=spreads.get(kernel, {}),
        )
        for kernel in manifest.kernels
    ]
    return View(
        data=data,
        sentences=summary.sentences(data),
        unknown=summary.unknown(data),
        columns=columns,
        rows=rows,
        failures=_failures(data),
        losses=_losses(data),
        retention=carried(data.verdicts),
        unknowns=_unknowns(data),
        isolation=summary.isolation(data),
        evidence=[evidence for evidence in Evidence if any(v.evidence is evidence for v in data.verdicts)],
    )


def _failures(data: RunData) -> list[Failure]:
    groups: dict[tuple[object, ...], list[Verdict]] = {}
    for verdict in data.verdicts:
        if verdict.status is Status.FAIL:
            key = (verdict.kernel, verdict.gate, verdict.reason, verdict.detail, verdict.location)
            groups.setdefault(key, []).append(verdict)
    return [
        Failure(
            kernel=(kernel := data.kernels.get(verdicts[0].kernel)),
            verdicts=tuple(verdicts),
            source=excerpt(kernel, verdicts[0].location),
            reproduce=reproduce(kernel, verdicts, data.manifest),
        )
        for verdicts in groups.values()
    ]


def _unknowns(data: RunData) -> list[Unknown]:
    groups: dict[tuple[str, Status, Reason | None, str], list[str]] = {}
    for verdict in data.verdicts:
        if verdict.status in (Status.SKIPPED, Status.INFRA):
            cause = (verdict.platform, verdict.status, verdict.reason, verdict.detail)
            groups.setdefault(cause, []).append(verdict.kernel)
    return [Unknown(*cause, tuple(kernels)) for cause, kernels in groups.items()]


def reproduce(kernel: Kernel | None, verdicts: Sequence[Verdict], run: Manifest) -> str:
    """Return the command that judges that kernel on those platforms again, for the evidence that the run sought.

    Where something ran, the run's seed is part of it once it is published: the shapes and inputs follow from it.
    """
    origin = kernel.origin if kernel is not None else verdicts[0].kernel
    task = verdicts[0].task
    if kernel is not None and PurePath(origin).name == kernel.file:  # a single file, which names no task
        words = ["check", f"{origin}::{kernel.function}", "--task", task]
    else:
        words = ["check", origin]
    words += ["--platforms", ",".join(verdict.platform for verdict in verdicts)]
    sought = Evidence.EMULATED if run.sweep.names_emulated else run.sweep.evidence
    if sought is not None:
        words += ["--evidence", sought.value]
    if run.hidden_seed is not None and any(verdict.evidence in RAN for verdict in verdicts):
        words += ["--hidden-seed", str(run.hidden_seed)]
    return shlex.join(["kab-mc", *words])


def _losses(data: RunData) -> list[Loss]:
    tallies = count_reasons(data.verdicts)
    found = [
        Loss(reason, {evidence: tally[reason] for evidence, tally in tallies.items() if reason in tally})
        for reason in Reason
    ]
    # by the largest single count, not by their sum: kinds of evidence are not added up
    return sorted((loss for loss in found if loss.counts), key=lambda loss: -max(loss.counts.values()))


def worst_launches(verdict: Verdict, limit: int = 6) -> tuple[list[Launch], int]:
    """Return the launches that matter most (those that cannot run, then the lowest occupancy) and how many are left."""

    def urgency(launch: Launch) -> tuple[bool, bool, float]:
        occupancy = launch.resources.occupancy if launch.resources is not None else None
        return (launch.reason is None, launch.tuning, 2.0 if occupancy is None else occupancy)

    ordered = sorted(verdict.launches, key=urgency)
    return ordered[:limit], max(len(ordered) - limit, 0)


def failed_trials(verdict: Verdict, limit: int = 8) -> tuple[list[Trial], int]:
    """Return the first trials that failed, and how many more did."""
    first = [trial for trial in verdict.trials if not trial.passed][:limit]
    return first, checked(verdict).failed - len(first)
