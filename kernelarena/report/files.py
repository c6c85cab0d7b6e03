"""Writing reports into a run's folder."""

from __future__ import annotations

import importlib
from pathlib import Path

from kernelarena.report.view import View, arrange
from kernelarena.spec import RunData, textfile
from kernelarena.spec.places import refusal

_MODULES = {"html": "html", "md": "markdown", "json": "json", "csv": "csv"}
FORMATS = tuple(_MODULES)
"""The formats that a report can be written in, by file suffix."""
STANDARD = ("json", "md", "html")
"""Those that every run folder has."""


def render(data: RunData, format: str) -> str:
    """Return the report of a run as text.

    Raises
    ------
    KeyError
        If ``format`` is not one of `FORMATS`.
    """
    return _render(arrange(data), format)


def write(data: RunData, folder: Path, formats: tuple[str, ...] = STANDARD) -> dict[str, Path]:
    """Write ``report.<format>`` into ``folder``, replacing each file in one step.

    Parameters
    ----------
    data
        The run, finished or not.
    folder
        The run's folder; it must exist.
    formats
        Some of `FORMATS`.

    Returns
    -------
    dict
        The path written for each format.

    Raises
    ------
    InputError
        If the folder may not be written to.
    InfraError
        If there is no room.
    """
    view = arrange(data)
    written = {}
    for name in formats:
        written[name] = folder / f"report.{name}"
        try:
            textfile.replace(written[name], _render(view, name))
        except OSError as error:
            raise refusal(written[name], error, "cannot be written") from None
    return written


def _render(view: View, format: str) -> str:
    # imported on demand: a template engine is nothing that a JSON report should wait for
    text: str = importlib.import_module(f"kernelarena.report.{_MODULES[format]}").render(view)
    return text
