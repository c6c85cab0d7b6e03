"""``kab-mc trend``: a history of runs."""

from __future__ import annotations

from pathlib import Path

import click

from kernelarena.cli import options
from kernelarena.cli.loading import load
from kernelarena.cli.output import STDOUT, deliver, form
from kernelarena.cli.page import console
from kernelarena.errors import InputError
from kernelarena.report.comparison import FORMATS, SUFFIXES, history, render_trend, trend_page

_HELP = """Follow kernels through a history of runs.

RUN… are folders of sweeps, the oldest first. Shows what passed of what was judged on each platform, by evidence; the
same over the cells that all runs have; and what each step changed, as `kab-mc compare` would tell of it.

\b
Examples:
  kab-mc trend reports/2026-10 reports/2026-11 reports/2026-12
  kab-mc trend reports/2026-* --output history.html
"""


@click.command(help=_HELP)
@click.argument("runs", nargs=-1, required=True, metavar="RUN…", type=options.PATH)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Write a document in this form; otherwise it follows from the suffix of --output.",
)
@click.option("--output", type=options.PATH, help="Where to write it; - is standard output.  [default: -]")
def trend(runs: tuple[Path, ...], format_: str | None, output: Path | None) -> None:
    """Read the runs, and print or write their history."""
    if len(runs) < 2:
        raise InputError(f"{runs[0]}: one run is no history; name at least two, the oldest first")
    chosen = form(format_, output, SUFFIXES)
    steps = history([load(path) for path in runs])
    if chosen is None:
        from kernelarena.report.pages import plain

        plain.write(trend_page(steps), console())
        return
    place = output or STDOUT
    deliver(render_trend(steps, chosen), place)
    if place != STDOUT:
        click.echo(place)
