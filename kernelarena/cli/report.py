"""``kab-mc report``: a run's reports again, or one of them in the form that is wanted."""

from __future__ import annotations

from pathlib import Path

import click

from kernelarena.cli import github, options
from kernelarena.cli.loading import load
from kernelarena.cli.output import STDOUT, deliver, form
from kernelarena.cli.streams import say
from kernelarena.errors import InputError
from kernelarena.report.files import FORMATS, STANDARD, SUFFIXES, render, write
from kernelarena.spec import RunData

_HELP = f"""Write the reports of a run again, or one of them in the form that is wanted.

RUN is the folder of a sweep, finished or not. Without options, {", ".join(f"report.{name}" for name in STANDARD)} in
that folder are replaced. In a workflow on GitHub, the step's summary and annotations of the code are written as well.

\b
Examples:
  kab-mc report reports/20261130-142530-ab12
  kab-mc report reports/20261130-142530-ab12 --format csv
  kab-mc report reports/20261130-142530-ab12 --format junit --output junit.xml
  kab-mc report reports/20261130-142530-ab12 --figures paper/
  kab-mc report reports/20261130-142530-ab12 --format md --output - | gh pr comment --body-file -
"""


@click.command(help=_HELP)
@click.argument("run", type=options.PATH)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Write this form only; otherwise it follows from the suffix of --output.",
)
@click.option(
    "--figures",
    type=options.PATH,
    metavar="DIR",
    help="Write the figures of the page, each as SVG and PNG, into DIR, and nothing else.",
)
@click.option(
    "--output",
    type=options.PATH,
    help="Where to write it; - is standard output.  [default: report.FORMAT in RUN]",
)
def report(run: Path, format_: str | None, figures: Path | None, output: Path | None) -> None:
    """Read the run, write what was asked for, and say where it is."""
    if figures is not None:
        if format_ is not None or output is not None:
            raise InputError("--figures writes the figures alone; give --format and --output in a call of their own")
        _draw(load(run), figures)
        return
    chosen = form(format_, output, SUFFIXES)
    data = load(run)
    github.tell(data)
    if output is None:
        for path in write(data, run, (chosen,) if chosen is not None else STANDARD).values():
            click.echo(path)
        return
    assert chosen is not None, "an output without a format is refused"
    deliver(render(data, chosen), output)
    if output != STDOUT:
        click.echo(output)


def _draw(data: RunData, folder: Path) -> None:
    from kernelarena.report.figures import export
    from kernelarena.report.view import arrange

    written, missing = export.write(arrange(data), folder)
    for path in written:
        click.echo(path)
    for one in missing:
        say(f"left out: {one.title} {one.why}")
