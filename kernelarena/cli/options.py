"""Options that several commands share, spelled and explained the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kernelarena.spec import Evidence

Command = TypeVar("Command", bound=Callable[..., Any])


class _Words(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.3 on
    """Text with something in it: an empty one is a variable of a script that was never set."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip(" ,"):
            self.fail("is empty; give it a value, or leave it out", param, ctx)
        return value


class _Path(_Words):
    """A path with something in it: an empty one would be the current folder."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        return Path(super().convert(value, param, ctx))


WORDS = _Words()
PATH = _Path()

platforms = click.option(
    "--platforms",
    multiple=True,
    type=WORDS,
    metavar="ID,…",
    help="Chips by id or alias, separated by commas. Default: those of the quickstart.",
)
task = click.option(
    "--task", type=WORDS, metavar="ID", help="The task of a single source file, which does not name one itself."
)
no_hidden = click.option("--no-hidden", is_flag=True, help="Leave out the hidden gate.")
hidden_seed = click.option(
    "--hidden-seed",
    type=click.IntRange(0, 2**63 - 1),
    metavar="N",
    help="Draw inputs and hidden shapes from this seed, to repeat a run. Default: a new one, published at the end.",
)
evidence = click.option(
    "--evidence",
    type=click.Choice([evidence.value for evidence in Evidence]),
    help="The strongest that is sought. Default: measured on a device, else emulated where there is an emulator, else "
    "compiled, which is the quick answer.",
)
no_cache = click.option("--no-cache", is_flag=True, help="Compile everything anew.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the JSON report on standard output.")


def folders(kind: str) -> Callable[[Command], Command]:
    """Return what adds ``--<kind>-dir``, which may be repeated."""
    return click.option(
        f"--{kind}-dir",
        f"{kind}_dirs",
        multiple=True,
        type=PATH,
        metavar="DIR",
        help=f"A folder with more {kind}; what it holds replaces what has the same id.",
    )


def extra_folders(command: Command) -> Command:
    """Add ``--platforms-dir`` and ``--tasks-dir``."""
    return folders("platforms")(folders("tasks")(command))
