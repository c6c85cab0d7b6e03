"""``kab-mc compare``: the portability regression report."""

from __future__ import annotations

from pathlib import Path

import click

from kernelarena.cli import github, options
from kernelarena.cli.loading import load
from kernelarena.cli.output import STDOUT, deliver, form
from kernelarena.cli.page import console
from kernelarena.errors import KernelArenaError
from kernelarena.metrics import comparison
from kernelarena.report.comparison import FORMATS, SUFFIXES, page, render

_NAMED = 3
"""Places of a condition that are named on standard error."""

_HELP = f"""Say what became worse, or better, from one run to another.

BASE and NEW are folders of sweeps. Cells are matched by kernel and platform; outcomes by the evidence behind them;
what compiled kernels need (spills, shared memory, occupancy) launch by launch, which needs no hardware; and times by
shape, with the share of false claims held to 5 % over the whole comparison.

--fail-on ends the command with exit code 1 where one of its conditions holds, so that a pipeline can stop there:

\b
{chr(10).join(f"  {name:<16} {meaning}" for name, meaning in comparison.CONDITIONS.items())}

slower, and what is about resources, may have a threshold: slower:5%.

\b
Examples:
  kab-mc compare reports/triton-3.6 reports/triton-3.9
  kab-mc compare reports/main reports/this --fail-on new-failures,slower:5%,spills
  kab-mc compare reports/main reports/this --format md --output - | gh pr comment --body-file -
"""


@click.command(help=_HELP)
@click.argument("base", type=options.PATH)
@click.argument("new", type=options.PATH)
@click.option(
    "--fail-on",
    "fail_on",
    multiple=True,
    type=options.WORDS,
    metavar="CONDITION,…",
    help="Exit with 1 where one of these holds.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Write a document in this form; otherwise it follows from the suffix of --output.",
)
@click.option("--output", type=options.PATH, help="Where to write it; - is standard output.  [default: -]")
def compare(base: Path, new: Path, fail_on: tuple[str, ...], format_: str | None, output: Path | None) -> None:
    """Compare, print or write what differs, and hold it against the conditions."""
    conditions = comparison.parse(",".join(fail_on)) if fail_on else []
    chosen = form(format_, output, SUFFIXES)
    found = comparison.compare(load(base), load(new))
    breaches = comparison.breaches(found, conditions)
    if github.root() is not None:
        github.publish(render(found, "md", breaches))
    if chosen is None:
        from kernelarena.report.pages import plain

        plain.write(page(found, breaches), console())
    else:
        place = output or STDOUT
        deliver(render(found, chosen, breaches), place)
        if place != STDOUT:
            click.echo(place)
    if breaches:
        raise KernelArenaError(*(_told(breach) for breach in breaches))


def _told(breach: comparison.Breach) -> str:
    named = ", ".join(breach.places[:_NAMED])
    more = len(breach.places) - _NAMED
    return f"--fail-on {breach.condition}: {named}{f' and {more:,} more' if more > 0 else ''}"
