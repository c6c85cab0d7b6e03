"""A comparison in words and tables: what limits it, what regressed, what improved, what is not comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kernelarena.metrics import RAN
from kernelarena.metrics.comparison import (
    Breach,
    Change,
    Comparison,
    Difference,
    Outcome,
    Pace,
    ResourceChange,
    TimeChange,
)
from kernelarena.report.pages import Page, Section
from kernelarena.report.text import brief, listing, plural
from kernelarena.spec import Evidence, Manifest, Status, Verdict

_UNIT = {"shared_memory": " B", "scratch": " B"}


def page(found: Comparison, breaches: Sequence[Breach] = ()) -> Page:
    """Return a comparison as a page.

    Parameters
    ----------
    found
        The comparison.
    breaches
        The conditions that were asked for and hold.
    """
    return Page(
        title=f"Portability regressions: {found.base.id} → {found.new.id}",
        sentences=[text for text in (_failures(found), _times(found), _resources(found)) if text],
        warnings=_warnings(found),
        sections=[
            _breaches(breaches),
            _differences("Environment", [*found.environment, *found.redefined]),
            _outcomes("Newly failing", found.changed(Change.NEW_FAILURE), detailed=True),
            _paced("Slower", found.paced(Pace.SLOWER)),
            _needs("Resources worse", found.worse_resources),
            _outcomes("Failing for another reason", found.changed(Change.OTHER_FAILURE), detailed=True),
            _outcomes("Nothing known any more", found.changed(Change.LOST), detailed=True),
            _outcomes("Fixed", found.changed(Change.FIXED)),
            _paced("Faster", found.paced(Pace.FASTER)),
            _needs("Resources better or otherwise", [c for c in found.resources if not c.worse], secondary=True),
            _evidence(found.evidence),
            _outcomes("Other hidden shapes decided", found.changed(Change.HIDDEN_SHAPES), secondary=True),
            _outcomes("Newly judged", found.changed(Change.GAINED), secondary=True),
            _unmatched(found),
        ],
        footer=" · ".join([_told(found.base, "base"), _told(found.new, "new")]),
    )


def _failures(found: Comparison) -> str:
    if not found.outcomes:
        return "The runs have no cell in common: there is nothing to compare."
    judged = [outcome for outcome in found.outcomes if outcome.base.evidence and outcome.new.evidence]
    kinds = Counter(outcome.new.evidence for outcome in judged)
    of = listing([f"{kinds[kind]:,} {kind}" for kind in Evidence if kinds[kind]])
    cells = f"Of {plural(len(judged), 'cell')} judged in both runs{f' ({of} now)' if of else ''}"
    failing = found.changed(Change.NEW_FAILURE)
    fixed = len(found.changed(Change.FIXED))
    mended = f"{fixed:,} {'is' if fixed == 1 else 'are'} fixed"
    if not failing:
        return f"{cells}, none newly fails and {mended}."
    why = Counter((str(o.new.gate), str(o.new.reason), str(o.new.evidence)) for o in failing)
    reasons = [f"{reason} at the {gate} gate, {evidence} ({n:,})" for (gate, reason, evidence), n in why.most_common(3)]
    more = f" and {len(why) - 3} other reasons" if len(why) > 3 else ""
    verb = "newly fails" if len(failing) == 1 else "newly fail"
    return f"{cells}, {len(failing):,} {verb}: {listing(reasons)}{more}; {mended}."


def _times(found: Comparison) -> str:
    if not found.times:
        return "No shape was timed in both runs, so nothing can be said of speed."
    slower, faster = found.paced(Pace.SLOWER), found.paced(Pace.FASTER)
    shapes = f"Of {plural(len(found.times), 'shape')} timed in both runs"
    if not slower and not faster:
        return f"{shapes}, none differs beyond noise."
    worst = f" (at worst {slower[0].kernel} on {slower[0].platform}, {_percent(slower[0].ratio - 1)})" if slower else ""
    verbs = ("is" if len(slower) == 1 else "are", "is" if len(faster) == 1 else "are")
    return (
        f"{shapes}, {len(slower):,} {verbs[0]} slower{worst} and {len(faster):,} {verbs[1]} faster beyond noise; "
        "on average at most 5 % of these claims are false."
    )


def _resources(found: Comparison) -> str:
    worse = found.worse_resources
    if not worse:
        return "No compiled kernel needs more than before." if any(o.new.launches for o in found.outcomes) else ""
    cells = len({(change.kernel, change.platform) for change in worse})
    kinds = Counter(change.resource for change in worse)
    spilt = sum(change.resource == "spills" and change.base == 0 for change in worse)
    what = listing([f"{_named(name)} ({number:,})" for name, number in kinds.most_common()])
    appeared = f"; spills appeared in {plural(spilt, 'device function')}" if spilt else ""
    return f"Resources got worse in {plural(cells, 'cell')}: {what}{appeared}."


def _warnings(found: Comparison) -> list[str]:
    texts, ran = [], set(RAN)
    if not found.same_shapes and any({outcome.base.evidence, outcome.new.evidence} & ran for outcome in found.outcomes):
        texts.append(
            "The runs drew different hidden shapes and inputs, so that what only the hidden gate decided is not "
            "compared; sweep with the --hidden-seed of the base to match them."
        )
    changed = {outcome.new.kernel for outcome in found.outcomes if outcome.source_changed}
    if changed:
        texts.append(
            f"{plural(len(changed), 'kernel')} differ{'s' if len(changed) == 1 else ''} between the runs under one "
            "name: what changed may be the kernel and not what built it."
        )
    if any(not change.relative for change in found.times):
        texts.append(
            "The baseline is not the same in both runs, so that times are compared as they stand; the noise floors do "
            "not cover what a chip or its clocks did between the runs."
        )
    for manifest, name in ((found.base, "base"), (found.new, "new")):
        if manifest.finished is None:
            texts.append(f"The {name} run is not finished.")
    return texts


def _breaches(breaches: Sequence[Breach]) -> Section:
    rows = [(str(breach.condition), place) for breach in breaches for place in breach.places]
    return Section("Failed conditions", ("condition", "where"), rows, "What --fail-on asked for, and where it holds.")


def _differences(title: str, found: Iterable[Difference]) -> Section:
    rows = [(difference.name, difference.base or "–", difference.new or "–") for difference in found]
    return Section(title, ("what", "base", "new"), rows)


def _outcomes(title: str, outcomes: list[Outcome], *, detailed: bool = False, secondary: bool = False) -> Section:
    columns = ("kernel", "platform", "base", "new", *(("detail",) if detailed else ()))
    rows = []
    for outcome in outcomes:
        name = outcome.new.kernel + (" (another source)" if outcome.source_changed else "")
        row = (name, outcome.new.platform, _told_of(outcome.base), _told_of(outcome.new))
        rows.append((*row, outcome.new.detail) if detailed else row)
    return Section(title, columns, rows, secondary=secondary)


def _evidence(outcomes: list[Outcome]) -> Section:
    note = "Other evidence is no regression by itself: what was only built may never have been right."
    return replace(_outcomes("Evidence changed", outcomes, secondary=True), note=note)


def _paced(title: str, changes: list[TimeChange]) -> Section:
    columns = ("kernel", "platform", "shape", "base", "new", "time", "interval", "noise")
    rows = [
        (
            change.kernel,
            change.platform,
            str(change.shape),
            brief(change.base_seconds),
            brief(change.new_seconds),
            _percent(change.ratio - 1),
            f"{_percent(change.low - 1)} to {_percent(change.high - 1)}",
            f"±{change.floor - 1:.1%}",
        )
        for change in changes
    ]
    note = (
        "Change of the kernel’s time relative to the baseline that ran beside it, where that is the same in both runs."
    )
    return Section(title, columns, rows, note, numeric=frozenset({"base", "new", "time", "interval", "noise"}))


def _needs(title: str, changes: list[ResourceChange], *, secondary: bool = False) -> Section:
    rows = [
        (
            change.kernel,
            change.platform,
            change.function,
            _named(change.resource),
            _amount(change, change.base),
            _amount(change, change.new),
            change.signature or "(worst of each run)",
        )
        for change in changes
    ]
    columns = ("kernel", "platform", "device function", "resource", "base", "new", "specialisation")
    note = "From what was compiled; the specialisation that changed most speaks for its function."
    numeric, long = frozenset({"base", "new"}), frozenset({"specialisation"})
    return Section(title, columns, rows, note, numeric=numeric, long=long, secondary=secondary)


def _unmatched(found: Comparison) -> Section:
    rows = [
        (verdict.kernel, verdict.platform, where, _told_of(verdict))
        for where, verdicts in (("base", found.only_base), ("new", found.only_new))
        for verdict in verdicts
    ]
    return Section("In one run only", ("kernel", "platform", "run", "outcome"), rows, secondary=True)


def _told_of(verdict: Verdict) -> str:
    if verdict.status is Status.PASS:
        return f"pass ({verdict.evidence})"
    basis = f" ({verdict.evidence}, {verdict.gate} gate)" if verdict.status is Status.FAIL else ""
    return f"{verdict.status}: {verdict.reason}{basis}"


def _told(manifest: Manifest, name: str) -> str:
    triton = manifest.environment.versions.get("triton")
    return f"{name}: run {manifest.id} of {manifest.created}" + (f", triton {triton}" if triton else "")


def _named(resource: str) -> str:
    return resource.replace("_", " ")


def _amount(change: ResourceChange, value: float) -> str:
    return f"{value:.1%}" if change.resource == "occupancy" else f"{value:,.0f}{_UNIT.get(change.resource, '')}"


def _percent(share: float) -> str:
    return f"{share:+.1%}".replace("-", "−")
