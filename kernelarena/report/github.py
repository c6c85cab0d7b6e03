"""Annotations of a workflow on GitHub: the lines at which kernels fail, shown beside the code that is reviewed."""

from __future__ import annotations

from pathlib import PurePath

from kernelarena.report.text import listing, one_line
from kernelarena.report.view import Failure, View

MOST = 10
"""Of a step; GitHub shows no more errors than that."""


def commands(view: View, root: PurePath) -> list[str]:
    """Return a workflow command for each of the first failures that point at a file below ``root``.

    Parameters
    ----------
    view
        The run.
    root
        The checkout; sources elsewhere cannot be annotated, and are told without a place.
    """
    return [_error(failure, root) for failure in view.failures[:MOST]]


def _error(failure: Failure, root: PurePath) -> str:
    verdict = failure.first
    where = listing([verdict.platform for verdict in failure.verdicts])
    properties = {"title": f"{verdict.kernel} on {where}: {verdict.reason}"}
    path = _path(failure, root)
    if path is not None and verdict.location is not None:
        properties = {"file": path, "line": str(verdict.location.line), **properties}
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::error {told}::{_data(f'{verdict.detail} ({verdict.evidence})')}"


def _path(failure: Failure, root: PurePath) -> str | None:
    if failure.kernel is None or failure.first.location is None:
        return None
    origin, file = PurePath(failure.kernel.origin), failure.first.location.file
    path = origin if origin.name == file else origin / file
    if path.is_absolute():
        return str(path.relative_to(root)) if path.is_relative_to(root) else None
    return str(path)


def _data(text: str) -> str:
    return one_line(text, limit=1_000).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
