"""Two runs beside each other: what is in both, and how it differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kernelarena.metrics.comparison._environment import Difference, differences, redefined
from kernelarena.metrics.comparison._outcomes import Change, Outcome, classify
from kernelarena.metrics.comparison._resources import ResourceChange, resource_changes
from kernelarena.metrics.comparison._times import RATE, Pace, TimeChange, decide, time_changes
from kernelarena.spec import Evidence, Manifest, RunData, Verdict

Cell = tuple[str, str]
"""Kernel id, platform id."""


@dataclass(frozen=True)
class Comparison:
    """What differs between two runs."""

    base: Manifest
    new: Manifest
    environment: tuple[Difference, ...]
    redefined: tuple[Difference, ...]
    """Platforms and tasks that the runs define differently."""
    same_shapes: bool
    """Whether the same hidden shapes and inputs were drawn, as far as any were."""
    outcomes: tuple[Outcome, ...]
    """Every cell that has a verdict in both runs, in the new run's order."""
    only_base: tuple[Verdict, ...]
    """Cells that the new run has no verdict on."""
    only_new: tuple[Verdict, ...]
    resources: tuple[ResourceChange, ...]
    """Every figure that changed, for the worse or not."""
    times: tuple[TimeChange, ...]
    """Every shape that was timed in both runs."""

    def changed(self, *changes: Change) -> list[Outcome]:
        """Return the cells of which that became."""
        return [outcome for outcome in self.outcomes if outcome.change in changes]

    @property
    def evidence(self) -> list[Outcome]:
        """The cells that are known by other evidence now."""
        return [outcome for outcome in self.outcomes if outcome.evidence_changed]

    @property
    def worse_resources(self) -> list[ResourceChange]:
        """The figures that changed for the worse."""
        return [change for change in self.resources if change.worse]

    def paced(self, pace: Pace) -> list[TimeChange]:
        """Return the shapes of which that may be claimed, the largest difference first."""
        found = [change for change in self.times if change.pace is pace]
        return sorted(found, key=lambda change: change.ratio, reverse=pace is Pace.SLOWER)


def compare(base: RunData, new: RunData, rate: float = RATE) -> Comparison:
    """Compare two runs.

    Cells are matched by kernel and platform, specialisations of device functions by signature, timed shapes by shape.

    Parameters
    ----------
    base, new
        The earlier run, and the one that may have made things worse.
    rate
        Of the differences in time that are claimed, the share that may be false, on average.
    """
    before = {(verdict.kernel, verdict.platform): verdict for verdict in base.verdicts}
    after = {(verdict.kernel, verdict.platform): verdict for verdict in new.verdicts}
    same_shapes = _same_seed(base.manifest, new.manifest)
    outcomes, resources, times = [], [], []
    for cell, verdict in after.items():
        old = before.get(cell)
        if old is None:
            continue
        changed = _digest(base, cell) != _digest(new, cell)
        outcomes.append(Outcome(old, verdict, classify(old, verdict, same_shapes=same_shapes), changed))
        resources += resource_changes(old, verdict)
        if old.evidence is verdict.evidence is Evidence.MEASURED:
            same_baseline = _baseline(base, verdict) == _baseline(new, verdict)
            times += time_changes(old, verdict, same_baseline=same_baseline)
    return Comparison(
        base=base.manifest,
        new=new.manifest,
        environment=tuple(differences(base, new)),
        redefined=tuple(redefined(base, new)),
        same_shapes=same_shapes,
        outcomes=tuple(outcomes),
        only_base=tuple(verdict for cell, verdict in before.items() if cell not in after),
        only_new=tuple(verdict for cell, verdict in after.items() if cell not in before),
        resources=tuple(resources),
        times=tuple(decide(times, rate)),
    )


def by_reason(outcomes: Iterable[Outcome]) -> Counter[tuple[str, str]]:
    """Count new failures by gate and reason."""
    return Counter((str(outcome.new.gate or ""), str(outcome.new.reason)) for outcome in outcomes)


def _same_seed(base: Manifest, new: Manifest) -> bool:
    return base.hidden_seed_sha256 == new.hidden_seed_sha256 and base.sweep.hidden.count == new.sweep.hidden.count


def _baseline(data: RunData, cell: Verdict) -> tuple[object, ...]:
    """Return everything that the baseline of a cell may follow from, whichever it was; its name is not in it."""
    torch = data.manifest.environment.versions.get("torch", "")
    task, kernel = data.tasks.get(cell.task), data.kernels.get(cell.kernel)
    reference = None if task is None else (task.reference, [shipped.digest for shipped in task.kernels])
    original = None
    if kernel is not None and kernel.original is not None:
        original = kernel.original, kernel.files.get(kernel.original.partition("::")[0])
    return torch, reference, original


def _digest(data: RunData, cell: Cell) -> str:
    kernel = data.kernels.get(cell[0])
    return kernel.digest if kernel is not None else ""
