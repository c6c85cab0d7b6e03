"""``report.json``: the run for programs, under a schema that only grows."""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

from pydantic import BaseModel

from kernelarena import metrics
from kernelarena.report import document, summary
from kernelarena.report.text import clean
from kernelarena.report.view import Column, Row, View, failed_trials
from kernelarena.spec import FamilyTally, Speedup, TimedShape, Verdict
from kernelarena.spec.condensed import checked
from kernelarena.spec.vocabulary import HIDDEN_FAMILIES

_LOG = 4_000
_FAILURES = 5
_CELLS, _NO_CELLS = '\n "cells": [', '\n "cells": []'
# What a cell's text has where cleaning would change it: escapes other than of line ends, tabs, quotes and backslashes,
# what is no JSON, and lines that are too long.
_UNCLEAN = re.compile(r'\\[^nt"\\]|NaN|Infinity|"(?:[^"\\]|\\.){1500}')


def render(view: View) -> str:
    """Return the report as JSON text, without NaN or infinity, which are not JSON."""
    return "".join(pieces(view))


def pieces(view: View) -> Iterator[str]:
    """Yield the text of the report piece by piece, a line for each cell: of many cells it is too large to be held."""
    head, tail = written(as_data(_without_cells(view))).split(_NO_CELLS, 1)
    yield head + _CELLS
    for at, verdict in enumerate(view.data.verdicts):
        yield (",\n  " if at else "\n  ") + _line(_cell(verdict))
    yield "\n ]" + tail


def as_dict(view: View) -> dict[str, Any]:
    """Return the report as plain data."""
    found: dict[str, Any] = json.loads(render(view))
    return found


def as_data(document: BaseModel) -> dict[str, Any]:
    """Return a document as plain data with harmless text, its ``schema_version`` written as ``schema``."""
    dumped: dict[str, Any] = document.model_dump(mode="json")
    return {"schema": dumped.pop("schema_version"), **_plain(dumped)}


def written(data: dict[str, Any]) -> str:
    """Return plain data as JSON text."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def schema(name: str = "report") -> dict[str, Any]:
    """Return a JSON Schema that the package ships: of a ``report``, a ``comparison`` or a ``trend``."""
    text = (resources.files("kernelarena.report") / "schema" / f"{name}-1.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _without_cells(view: View) -> document.Report:
    """Return the report as a model, but for its cells, which are written one by one."""
    data, manifest = view.data, view.data.manifest
    return document.Report(
        summary=tuple(summary.sentences(data)) + ((view.unknown,) if view.unknown else ()),
        run=document.RunFacts(
            **{name: getattr(manifest, name) for name in type(manifest).model_fields if name != "schema_version"},
            isolation=summary.missing_layers(data),
            duration_s=round(sum(verdict.duration_s for verdict in data.verdicts), 3),
        ),
        cells=(),
        platforms={column.id: _platform(column, data.verdicts) for column in view.columns},
        portability=document.Portability(
            kernels={row.id: _kernel(row) for row in view.rows},
            retention=tuple(
                document.Retention(
                    home=pair.home,
                    platform=pair.platform,
                    home_evidence=pair.home_evidence,
                    evidence=pair.evidence,
                    **_rate(pair.rate).model_dump(),
                )
                for pair in view.retention
            ),
        ),
    )


def _cell(verdict: Verdict) -> document.Cell:
    shared = {name: getattr(verdict, name) for name in document.Cell.model_fields if name not in ("launches", "trials")}
    launches = verdict.launches
    return document.Cell(
        **{
            **shared,
            "hidden": _sorted(verdict.hidden),
            "speedup": _finite_speedup(verdict.speedup),
            "timings": tuple(map(_finite_timing, verdict.timings)),
            "log": clean(verdict.log, limit=_LOG, keep="end"),
        },
        launches=document.LaunchSummary(
            distinct=len(launches),
            total=sum(launch.count for launch in launches),
            tuning=sum(launch.tuning for launch in launches),
            unfit=sum(launch.reason is not None for launch in launches),
            names=tuple(sorted({launch.kernel for launch in launches})),
        ),
        trials=_trials(verdict),
    )


def _line(cell: document.Cell) -> str:
    """Return a cell as JSON text on one line.

    Nearly all cells are harmless as they are, which one look over their text tells; cleaning every string of a million
    timed shapes by itself takes minutes.
    """
    with contextlib.suppress(ValueError):  # half a surrogate pair, which is no text
        text = cell.model_dump_json()
        if text.isprintable() and not _UNCLEAN.search(text):
            return text
    return json.dumps(_plain(cell.model_dump(mode="json")), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _trials(verdict: Verdict) -> document.TrialSummary:
    calls = checked(verdict)
    first, _ = failed_trials(verdict, _FAILURES)
    return document.TrialSummary(
        total=calls.total,
        failed=calls.failed,
        worst_error=calls.worst,
        failures=tuple(
            document.FailedTrial(shape=trial.shape, reason=trial.reason, detail=trial.detail, error=trial.error)
            for trial in first
        ),
    )


def _platform(column: Column, verdicts: tuple[Verdict, ...]) -> document.PlatformSummary:
    own = [verdict for verdict in verdicts if verdict.platform == column.id]
    lost = metrics.reasons(own)
    return document.PlatformSummary(
        **{
            name: getattr(column.platform, name) if column.platform is not None else ""
            for name in ("title", "vendor", "backend", "arch")
        },
        evidence={
            evidence: document.PlatformEvidence(
                passed=rate.passed,
                failed=rate.total - rate.passed,
                rate=rate.share,
                reasons=lost.get(evidence, {}),
                generalisation=_generalisation(column.generalisation.get(evidence)),
            )
            for evidence, rate in column.counts.rates.items()
        },
        skipped=column.counts.skipped,
        infra=column.counts.infra,
        pending=column.pending,
    )


def _generalisation(found: metrics.Generalisation | None) -> document.HiddenShare | None:
    if found is None:
        return None
    return document.HiddenShare(
        visible=_rate(found.visible),
        hidden=_rate(found.hidden),
        gap=found.gap,
        by_family={family: _rate(rate) for family, rate in found.families.items()},
    )


def _kernel(row: Row) -> document.KernelPortability:
    task = row.kernel.task if row.kernel is not None else next((cell.task for cell in row.cells if cell), "")
    return document.KernelPortability(
        task=task,
        home=row.kernel.home if row.kernel is not None else None,
        evidence={
            evidence: document.Spread(passed=spread.passed, failed=spread.failed, share=spread.rate.share)
            for evidence, spread in row.spread.items()
        },
    )


def _rate(rate: metrics.Rate) -> document.Rate:
    return document.Rate(passed=rate.passed, total=rate.total, share=rate.share)


def _sorted(tally: FamilyTally) -> FamilyTally:
    ordered = {family: tally.by_family[family] for family in HIDDEN_FAMILIES if family in tally.by_family}
    return tally.model_copy(update={"by_family": ordered})


def _finite_speedup(speedup: Speedup | None) -> Speedup | None:
    known = speedup is not None and all(math.isfinite(value) for value in (speedup.median, *speedup.ci))
    return speedup if known else None


def _finite_timing(timed: TimedShape) -> TimedShape:
    speedup = _finite_speedup(timed.speedup)
    return timed if speedup is timed.speedup else timed.model_copy(update={"speedup": speedup})


def _plain(value: Any) -> Any:
    """Return JSON data with harmless text, and null for what is not a finite number."""
    if isinstance(value, dict):
        return {clean(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return clean(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
