"""``kab-mc report``: a run's reports again, or one of them in the form that is wanted."""

from __future__ import annotations

from pathlib import Path

import click

from kernelarena.cli import options
from kernelarena.cli.streams import emit
from kernelarena.errors import InputError
from kernelarena.report.files import FORMATS, STANDARD, render, write
from kernelarena.spec import textfile
from kernelarena.spec.places import Place, look, refusal
from kernelarena.store import Run

_HELP = f"""Write the reports of a run again, or one of them in the form that is wanted.

RUN is the folder of a sweep, finished or not. Without options, {", ".join(f"report.{name}" for name in STANDARD)} in
that folder are replaced.

\b
Examples:
  kab-mc report reports/20261130-142530-ab12
  kab-mc report reports/20261130-142530-ab12 --format csv
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
    "--output",
    type=options.PATH,
    help="Where to write it; - is standard output.  [default: report.FORMAT in RUN]",
)
def report(run: Path, format_: str | None, output: Path | None) -> None:
    """Read the run, write what was asked for, and say where it is."""
    chosen = format_ or _format_of(output)
    with Run.open(run) as opened:
        data = opened.data()
    if output is None:
        for path in write(data, run, (chosen,) if chosen is not None else STANDARD).values():
            click.echo(path)
        return
    assert chosen is not None, "an output without a format is refused"
    text = render(data, chosen)
    if str(output) == "-":
        emit(text)
        return
    _write(output, text)
    click.echo(output)


def _write(output: Path, text: str) -> None:
    """Put the text where the user wants it: in the place of a file, or through a pipe or a device as it is."""
    place = look(output)
    if place is Place.FOLDER:
        raise InputError(f"--output {output}: is a folder; name a file in it")
    try:
        if place is Place.OTHER:
            output.write_text(text, encoding="utf-8", errors="replace")
        else:
            textfile.replace(output, text)
    except OSError as error:
        raise refusal(output, error, "cannot be written") from None


def _format_of(output: Path | None) -> str | None:
    if output is None:
        return None
    suffix = output.suffix.lstrip(".")
    if suffix not in FORMATS:
        raise InputError(f"--output {output}: does not say which form; add --format {'|'.join(FORMATS)}")
    return suffix
