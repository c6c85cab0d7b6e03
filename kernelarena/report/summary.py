"""The answer in plain words, made from the verdicts: at most three sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kernelarena.metrics import RAN, Counts, Rate, by_platform, pass_rates, portability, reasons
from kernelarena.report import words
from kernelarena.report.text import listing, plural
from kernelarena.spec import Evidence, Gate, Reason, ReasonGroup, RunData, Status, Verdict

_MOST_NAMED = 6
"""Platforms that a sentence names one by one; more are given as a range."""


def sentences(data: RunData) -> list[str]:
    """Return what a reader should know first: how many kernels are good where, everywhere, and what the rest lost to.

    Kinds of evidence are never added up, and only what ran on a chip is said to work on it.
    """
    if not data.verdicts:
        return ["Nothing has been judged yet."]
    counted = by_platform(data.verdicts)
    rates = {evidence: _rates(data, counted, evidence) for evidence in Evidence}
    return [text for text in (_where(rates), _everywhere(data, rates), _losses(data.verdicts)) if text]


def unknown(data: RunData) -> str | None:
    """Return which cells nothing is known about, or None if there are none."""
    statuses = [verdict.status for verdict in data.verdicts]
    pending = len(data.manifest.kernels) * len(data.manifest.platforms) - len(statuses)
    parts = []
    if skipped := statuses.count(Status.SKIPPED):
        parts.append(f"{plural(skipped, 'cell')} could not be tried here")
    if infra := statuses.count(Status.INFRA):
        parts.append(f"{plural(infra, 'cell')} {'was' if infra == 1 else 'were'} lost to infrastructure")
    if pending > 0:
        parts.append(f"{plural(pending, 'cell')} {'has' if pending == 1 else 'have'} not been judged yet")
    return (
        f"{listing(parts)}; {'this says' if len(parts) == 1 else 'these say'} nothing about the kernels."
        if parts
        else None
    )


def missing_layers(data: RunData) -> dict[str, int] | None:
    """Return what isolation the kernels' processes lacked, with the number of cells; None where none was started."""
    isolated = [verdict.isolation for verdict in data.verdicts if verdict.isolation is not None]
    return dict(Counter(layer for layers in isolated for layer in layers)) if isolated else None


def isolation(data: RunData) -> str | None:
    """Return in words how kernels were kept from what is not theirs, or None where no process was started for one."""
    missing = missing_layers(data)
    if missing is None:
        return None
    if not missing:
        return "Isolation of kernels: complete."
    cells = sum(verdict.isolation is not None for verdict in data.verdicts)
    layers = [layer if count == cells else f"{layer} in {plural(count, 'cell')}" for layer, count in missing.items()]
    return f"Isolation of kernels: without {listing(layers)}."


def _rates(data: RunData, counted: Mapping[str, Counts], evidence: Evidence) -> dict[str, Rate]:
    """Pass rates with that evidence, by platform in the order of the columns."""
    known = {platform: counted[platform].rates for platform in data.manifest.platforms if platform in counted}
    return {platform: rates[evidence] for platform, rates in known.items() if evidence in rates}


def _where(by_evidence: Mapping[Evidence, dict[str, Rate]]) -> str:
    parts = []
    for evidence, rates in by_evidence.items():
        if not rates:
            continue
        (platform, rate), *rest = rates.items()
        named = len(rates) <= _MOST_NAMED
        if rest and len(set(rates.values())) == 1:
            where = listing(list(rates)) if named else f"the {len(rates)} platforms"
            counted = f"{_claim(rate, evidence)} each of {where}"
        elif named:
            on = "on " if words.CLAIM[evidence][1].endswith(" on") else ""
            others = [f"{rate.passed} of {rate.total} {on}{platform}" for platform, rate in rest]
            counted = listing([f"{_claim(rate, evidence)} {platform}", *others])
        else:
            counted = f"{_range(rates)} {words.CLAIM[evidence][1]} the {len(rates)} platforms"
        parts.append(f"{counted} ({words.CAVEAT[evidence]})")
    return _sentence("; ".join(parts)) if parts else "No cell could be judged."


def _claim(rate: Rate, evidence: Evidence) -> str:
    """Put a rate into words: ``0 of 1 kernel builds for and fits``, ``2 of 3 kernels build for and fit``."""
    one, several = words.CLAIM[evidence]
    return f"{rate.passed} of {plural(rate.total, 'kernel')} {one if 1 in (rate.passed, rate.total) else several}"


def _range(rates: dict[str, Rate]) -> str:
    """Return the lowest and the highest of rates that are not all the same."""
    worst, low = min(rates.items(), key=lambda pair: pair[1].share or 0.0)
    best, high = max(rates.items(), key=lambda pair: pair[1].share or 0.0)
    return f"between {low.passed} of {plural(low.total, 'kernel')} ({worst}) and {high.passed} of {high.total} ({best})"


def _everywhere(data: RunData, by_evidence: Mapping[Evidence, dict[str, Rate]]) -> str:
    spreads = portability(data.verdicts)
    parts = []
    for evidence, rates in by_evidence.items():
        platforms = len(rates)
        if platforms < 2:
            continue
        known = [spread[evidence] for spread in spreads.values() if evidence in spread]
        everywhere = Rate(sum(spread.rate.passed == platforms for spread in known), len(known))
        all_ = "both platforms" if platforms == 2 else f"all {platforms} platforms"
        parts.append(f"{_claim(everywhere, evidence)} {all_} {words.REACHED[evidence]}")
    if refuted := _refuted(data.verdicts):
        parts.append(
            f"{refuted} that {'builds fails where it was' if refuted == 1 else 'build fail where they were'} run"
        )
    return _sentence("; ".join(parts)) if parts else ""


def _refuted(verdicts: Sequence[Verdict]) -> int:
    """Count kernels that build for some chip but went wrong where they were run: there, building promises nothing."""
    builds = {v.kernel for v in verdicts if v.evidence is Evidence.COMPILED and v.status is Status.PASS}
    wrong = {
        v.kernel
        for v in verdicts
        if v.evidence in RAN
        and v.gate is not Gate.COMPILE
        and v.reason is not None
        and v.reason.group is not ReasonGroup.COMPILE
    }
    return len(builds & wrong)


def _losses(verdicts: Sequence[Verdict]) -> str:
    ranked = sorted(
        (
            (number, evidence, reason)
            for evidence, tally in reasons(verdicts).items()
            for reason, number in tally.items()
        ),
        key=lambda loss: -loss[0],
    )
    if not ranked:
        return "No kernel failed." if pass_rates(verdicts) else ""
    (number, evidence, reason), *rest = ranked[:3]
    first = f"Most is lost to {reason} ({plural(number, f'{evidence} cell')}: {_meaning(reason)})"
    others = [f"{reason} ({number} {evidence})" for number, evidence, reason in rest]
    return f"{first}, then to {listing(others)}." if others else f"{first}."


def _meaning(reason: Reason) -> str:
    text = words.MEANING[reason].rstrip(".")
    return text[0].lower() + text[1:]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
