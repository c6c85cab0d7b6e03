"""Annotations of a workflow on GitHub: the lines at which kernels fail, shown beside the code that is reviewed."""

from __future__ import annotations

import re
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
    properties = {**_place(failure, root), "title": f"{verdict.kernel} on {where}: {verdict.reason}"}
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::error {told}::{_data(f'{verdict.detail} ({verdict.evidence})')}"


def _place(failure: Failure, root: PurePath) -> dict[str, str]:
    """Return the file and the line as GitHub calls them; nothing where they are not known or not in the checkout."""
    if failure.kernel is None:
        return {}
    origin, location = PurePath(failure.kernel.origin), failure.first.location
    if (one := re.fullmatch(r"(.+\.jsonl):(\d+)", failure.kernel.origin)) is not None:
        path, line = PurePath(one[1]), one[2]  # its whole source is on that line, wherever in it the failure is
    elif location is not None:
        path = origin if origin.name == location.file else origin / location.file
        line = str(location.line)
    else:
        return {}
    if path.is_absolute():
        if not path.is_relative_to(root):
            return {}
        path = path.relative_to(root)
    return {"file": str(path), "line": line}


def _data(text: str) -> str:
    return one_line(text, limit=1_000).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
