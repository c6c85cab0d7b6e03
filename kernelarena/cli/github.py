"""What a command tells GitHub when it runs in one of its workflows: a summary of the step, and annotations."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kernelarena.cli.streams import say
from kernelarena.spec import RunData

_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file of a step's summary."""
_LARGEST = 1 << 20
"""Bytes of a step's summary; a larger one is dropped as a whole."""


def tell(data: RunData) -> None:
    """Summarise a run and annotate the kernels that fail, in a workflow; elsewhere do nothing."""
    checkout = root()
    if checkout is None and not os.environ.get(_SUMMARY):
        return
    from kernelarena.report import markdown
    from kernelarena.report.github import commands
    from kernelarena.report.view import arrange

    view = arrange(data)
    publish(markdown.render(view), [] if checkout is None else commands(view, checkout))


def root() -> Path | None:
    """Return the checkout of the workflow that this runs in; None elsewhere."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return None
    return Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())


def publish(markdown: str, annotations: Iterable[str] = ()) -> None:
    """Add to the step's summary, and annotate; what cannot be told there is no reason to fail.

    Commands of a workflow go to standard error, where GitHub reads them as well: standard output may be a document.
    """
    for line in annotations:
        say(line)
    place = os.environ.get(_SUMMARY)
    if not place:
        return
    data = f"{markdown}\n".encode("utf-8", "replace")
    try:
        with open(place, "ab") as file:
            if file.tell() + len(data) <= _LARGEST:
                file.write(data)
    except OSError as error:
        say(f"::warning::the step's summary cannot be written: {error.strerror}")
