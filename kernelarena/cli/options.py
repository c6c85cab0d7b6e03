"""Options that several commands share, spelled and explained the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_FOLDER = click.Path(path_type=Path)

platforms = click.option(
    "--platforms",
    multiple=True,
    metavar="ID,…",
    help="Chips by id or alias, separated by commas. Default: those of the quickstart.",
)
task = click.option("--task", metavar="ID", help="The task of a single source file, which does not name one itself.")
no_hidden = click.option("--no-hidden", is_flag=True, help="Leave out the hidden gate.")
hidden_seed = click.option(
    "--hidden-seed",
    type=click.IntRange(0, 2**63 - 1),
    metavar="N",
    help="Draw inputs and hidden shapes from this seed, to repeat a run. Default: a new one, published at the end.",
)
no_cache = click.option("--no-cache", is_flag=True, help="Compile everything anew.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the JSON report on standard output.")


def folders(kind: str) -> Callable[[Command], Command]:
    """Return what adds ``--<kind>-dir``, which may be repeated."""
    return click.option(
        f"--{kind}-dir",
        f"{kind}_dirs",
        multiple=True,
        type=_FOLDER,
        metavar="DIR",
        help=f"A folder with more {kind}; what it holds replaces what has the same id.",
    )


def extra_folders(command: Command) -> Command:
    """Add ``--platforms-dir`` and ``--tasks-dir``."""
    return folders("platforms")(folders("tasks")(command))
