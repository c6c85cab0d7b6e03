"""A comparison and a history as the models of their JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kernelarena.metrics import Rate
from kernelarena.metrics.comparison import Breach, Change, Comparison, Difference, Outcome, Pace
from kernelarena.report import document as report
from kernelarena.report.comparison import document
from kernelarena.report.comparison.history import Step
from kernelarena.report.pages import Page
from kernelarena.spec import Evidence, Manifest, Verdict


def comparison(found: Comparison, page: Page, breaches: Sequence[Breach]) -> document.Comparison:
    """Return a comparison as a model; ``page`` is what says it in words."""
    unmatched = [("base", verdict) for verdict in found.only_base] + [("new", verdict) for verdict in found.only_new]
    return document.Comparison(
        summary=tuple(page.sentences),
        warnings=tuple(page.warnings),
        base=_run(found.base),
        new=_run(found.new),
        environment=_differences(found.environment),
        redefined=_differences(found.redefined),
        same_shapes=found.same_shapes,
        counts=_counts(found),
        cells=tuple(
            _cell(outcome)
            for outcome in found.outcomes
            if outcome.change is not Change.SAME or outcome.evidence_changed or outcome.source_changed
        ),
        resources=tuple(
            document.ResourceChange(
                **{name: getattr(change, name) for name in document.ResourceChange.model_fields},
            )
            for change in found.resources
        ),
        times=tuple(
            document.TimeChange(
                **{name: getattr(change, name) for name in document.TimeChange.model_fields if name != "pace"},
                pace=change.pace.value,
            )
            for change in found.times
        ),
        unmatched=tuple(
            document.UnmatchedCell.model_validate(
                {"kernel": verdict.kernel, "platform": verdict.platform, "run": where}
            )
            for where, verdict in unmatched
        ),
        breaches=tuple(document.Breach(condition=str(each.condition), places=each.places) for each in breaches),
    )


def trend(steps: Sequence[Step], page: Page) -> document.Trend:
    """Return a history as a model."""
    return document.Trend(
        summary=tuple(page.sentences),
        warnings=tuple(page.warnings),
        steps=tuple(
            document.Step(
                run=_run(step.manifest),
                platforms=_rates(step.rates),
                common=_rates(step.common),
                since=None if step.since is None else _change(step.since),
            )
            for step in steps
        ),
    )


def _change(found: Comparison) -> document.Change:
    return document.Change(
        counts=_counts(found),
        slower=len(found.paced(Pace.SLOWER)),
        faster=len(found.paced(Pace.FASTER)),
        resources_worse=len({(change.kernel, change.platform) for change in found.worse_resources}),
        evidence_changed=len(found.evidence),
    )


def _counts(found: Comparison) -> dict[str, int]:
    counts = Counter(outcome.change for outcome in found.outcomes)
    return {change.value: counts[change] for change in Change}


def _run(manifest: Manifest) -> document.RunName:
    return document.RunName(
        id=manifest.id,
        created=manifest.created,
        finished=manifest.finished,
        versions=manifest.environment.versions,
    )


def _differences(found: Sequence[Difference]) -> tuple[document.Difference, ...]:
    return tuple(document.Difference(name=each.name, base=each.base, new=each.new) for each in found)


def _cell(outcome: Outcome) -> document.CellChange:
    return document.CellChange(
        task=outcome.new.task,
        kernel=outcome.new.kernel,
        platform=outcome.new.platform,
        change=outcome.change.value,
        evidence_changed=outcome.evidence_changed,
        source_changed=outcome.source_changed,
        base=_side(outcome.base),
        new=_side(outcome.new),
    )


def _side(verdict: Verdict) -> document.Side:
    return document.Side(**{name: getattr(verdict, name) for name in document.Side.model_fields})


def _rates(found: dict[str, dict[Evidence, Rate]]) -> dict[str, dict[Evidence, report.Rate]]:
    return {
        platform: {
            evidence: report.Rate(passed=rate.passed, total=rate.total, share=rate.share)
            for evidence, rate in rates.items()
        }
        for platform, rates in found.items()
    }
