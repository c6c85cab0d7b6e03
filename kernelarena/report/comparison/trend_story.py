"""A history of runs in words and tables."""

from __future__ import annotations

from collections.abc import Sequence

from kernelarena.metrics import RAN
from kernelarena.metrics.comparison import Change, Pace
from kernelarena.report.comparison.history import Step
from kernelarena.report.pages import Page, Section
from kernelarena.report.text import listing, plural
from kernelarena.spec import Evidence

_FOLLOWED = ("triton", "torch")
"""Versions that are named beside each run."""


def trend_page(steps: Sequence[Step]) -> Page:
    """Return a history as a page."""
    columns = _columns(steps)
    return Page(
        title=f"Portability over {len(steps)} runs: {steps[0].manifest.id} → {steps[-1].manifest.id}",
        sentences=_sentences(steps),
        warnings=_warnings(steps),
        sections=[
            _rates("Passed of judged", steps, columns, common=False),
            _rates("Over the cells that all runs have", steps, columns, common=True),
            _changes(steps),
        ],
    )


def _columns(steps: Sequence[Step]) -> list[tuple[str, Evidence]]:
    found = dict.fromkeys(
        (platform, evidence) for step in steps for platform, rates in step.rates.items() for evidence in rates
    )
    platforms = list(dict.fromkeys(platform for platform, _ in found))
    return sorted(found, key=lambda column: (platforms.index(column[0]), list(Evidence).index(column[1])))


def _sentences(steps: Sequence[Step]) -> list[str]:
    first, last = steps[0], steps[-1]
    parts = []
    for platform, evidence in _columns(steps):
        old, now = first.common.get(platform, {}).get(evidence), last.common.get(platform, {}).get(evidence)
        if old is not None and now is not None:
            parts.append(f"{platform} from {old} to {now} ({evidence})")
    failing = sum(len(step.since.changed(Change.NEW_FAILURE)) for step in steps if step.since is not None)
    fixed = sum(len(step.since.changed(Change.FIXED)) for step in steps if step.since is not None)
    told = [f"Over the cells that all runs have, {listing(parts)}."] if parts else ["No cell is in all of the runs."]
    steps_ = plural(len(steps) - 1, "step")
    return [
        *told,
        f"In {steps_}, {plural(failing, 'cell')} newly failed and {fixed:,} {'was' if fixed == 1 else 'were'} fixed.",
    ]


def _warnings(steps: Sequence[Step]) -> list[str]:
    ran = any(evidence in RAN for _, evidence in _columns(steps))
    if not ran or all(step.since is None or step.since.same_shapes for step in steps):
        return []
    return ["Not all runs drew the same hidden shapes and inputs; what only the hidden gate decided is not compared."]


def _rates(title: str, steps: Sequence[Step], columns: list[tuple[str, Evidence]], *, common: bool) -> Section:
    rows = []
    for step in steps:
        rates = step.common if common else step.rates
        figures = [str(rates.get(platform, {}).get(evidence, "–")) for platform, evidence in columns]
        rows.append((step.manifest.id, _versions(step), *figures))
    names = tuple(f"{platform} ({evidence})" for platform, evidence in columns)
    return Section(title, ("run", "with", *names), rows if columns else [], numeric=frozenset(names), secondary=common)


def _changes(steps: Sequence[Step]) -> Section:
    rows = []
    for step in steps:
        if step.since is None:
            continue
        found = step.since
        numbers = (
            len(found.changed(Change.NEW_FAILURE)),
            len(found.changed(Change.FIXED)),
            len(found.paced(Pace.SLOWER)),
            len(found.paced(Pace.FASTER)),
            len({(change.kernel, change.platform) for change in found.worse_resources}),
            len(found.evidence),
        )
        rows.append((step.manifest.id, *(f"{number:,}" for number in numbers)))
    names = ("newly failing", "fixed", "slower shapes", "faster shapes", "resources worse", "evidence changed")
    return Section("Since the run before", ("run", *names), rows, numeric=frozenset(names))


def _versions(step: Step) -> str:
    versions = step.manifest.environment.versions
    return ", ".join(f"{name} {versions[name]}" for name in _FOLLOWED if name in versions)
