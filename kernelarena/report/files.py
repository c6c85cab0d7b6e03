"""Writing reports into a run's folder."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Literal, overload

from kernelarena.report.json import pieces
from kernelarena.report.view import View, arrange
from kernelarena.spec import RunData, textfile
from kernelarena.spec.places import refusal

_MODULES = {
    "html": "html",
    "md": "markdown",
    "json": "json",
    "csv": "csv",
    "parquet": "parquet",
    "junit": "junit",
}
FORMATS = tuple(_MODULES)
"""The formats that a report can be written in."""
SUFFIXES = {"xml" if name == "junit" else name: name for name in FORMATS}
"""The format that a file's suffix stands for."""
STANDARD = ("json", "md", "html")
"""Those that every run folder has."""


@overload
def render(data: RunData, format: Literal["html", "md", "json", "csv", "junit"]) -> str: ...
@overload
def render(data: RunData, format: str) -> str | bytes: ...


def render(data: RunData, format: str) -> str | bytes:
    """Return the report of a run: text, but for Parquet, which is none.

    Raises
    ------
    KeyError
        If ``format`` is not one of `FORMATS`.
    """
    return _render(arrange(data), format)


def write(data: RunData, folder: Path, formats: tuple[str, ...] = STANDARD) -> dict[str, Path]:
    """Write ``report.<suffix>`` into ``folder``, replacing each file in one step.

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
    suffix_of = {name: suffix for suffix, name in SUFFIXES.items()}
    written = {}
    for name in formats:
        written[name] = folder / f"report.{suffix_of[name]}"
        try:
            textfile.replace(written[name], pieces(view) if name == "json" else _render(view, name))
        except OSError as error:
            raise refusal(written[name], error, "cannot be written") from None
    return written


def _render(view: View, format: str) -> str | bytes:
    # imported on demand: a template engine is nothing that a JSON report should wait for
    text: str | bytes = importlib.import_module(f"kernelarena.report.{_MODULES[format]}").render(view)
    return text
