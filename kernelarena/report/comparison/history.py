"""More than two runs as a history: where each stands, and what each step changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelarena.metrics import Rate, pass_rates
from kernelarena.metrics.comparison import Comparison, compare
from kernelarena.spec import Evidence, Manifest, RunData


@dataclass(frozen=True)
class Step:
    """One run of a history."""

    manifest: Manifest
    rates: dict[str, dict[Evidence, Rate]]
    """Passed of judged, by platform and evidence, over the run's own cells."""
    common: dict[str, dict[Evidence, Rate]]
    """The same over cells that all runs have a verdict on, which is what can be followed through."""
    since: Comparison | None
    """What changed since the run before; None for the first."""


def history(runs: Sequence[RunData]) -> list[Step]:
    """Return where each run stands, in the order given.

    Raises
    ------
    ValueError
        If there are fewer than two.
    """
    if len(runs) < 2:
        raise ValueError(f"{len(runs)} run is no history")
    cells = [{(verdict.kernel, verdict.platform) for verdict in run.verdicts} for run in runs]
    everywhere = set.intersection(*cells)
    return [
        Step(
            manifest=run.manifest,
            rates=_rates(run),
            common=_rates(run, everywhere),
            since=compare(runs[at - 1], run) if at else None,
        )
        for at, run in enumerate(runs)
    ]


def _rates(run: RunData, cells: set[tuple[str, str]] | None = None) -> dict[str, dict[Evidence, Rate]]:
    found = {}
    for platform in run.manifest.platforms:
        own = [
            verdict
            for verdict in run.verdicts
            if verdict.platform == platform and (cells is None or (verdict.kernel, platform) in cells)
        ]
        if rates := pass_rates(own):
            found[platform] = rates
    return found
