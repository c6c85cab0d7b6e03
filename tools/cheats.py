"""Judge the corpus of cheats and their honest twins, and print what came of each.

    python tools/cheats.py [--platform cpu] [PATTERN]

PATTERN selects by ``group/name``. On a platform other than ``cpu`` those cheats are tried that need a device. Ends
with 1 if a cheat passes, gets a reason that does not name it, or if an honest twin fails.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

EVERY_S = 30.0
"""Between lines that say how far it is, where nobody watches a terminal."""
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kernelarena.errors import InputError, nearest  # noqa: E402
from kernelarena.judge import Judge  # noqa: E402
from kernelarena.platforms import catalogue  # noqa: E402
from kernelarena.spec import Platform, Status, Verdict  # noqa: E402
from tests.corpus.runner import SEED, Outcome, judged, specimens  # noqa: E402


@click.command(help=__doc__)
@click.option("--platform", "name", default="cpu", show_default=True, help="Where they are judged.")
@click.option("--seed", default=SEED, show_default=True, help="Draws shapes and inputs.")
@click.argument("pattern", default="*")
def main(name: str, seed: int, pattern: str) -> None:
    """Print the table; exit with 1 if anything is not as it should be."""
    try:
        platform = _platform(name)
        chosen = [one for one in specimens(pattern) if one.suits(platform)]
        if not chosen:
            raise InputError(f"no cheat matches '{pattern}' on {name}; they are the folders of tests/corpus/cheats")
    except InputError as error:
        raise click.UsageError(str(error)) from None
    with Judge() as judge:
        outcomes = list(told(judged(judge, chosen, platform, seed), len(chosen)))
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table(outcomes, platform))
    for outcome in outcomes:
        if outcome.trouble:
            console.print(f"{outcome.specimen.name}: {outcome.trouble}", markup=False)
    console.print(summary(outcomes), markup=False)
    sys.exit(0 if all(outcome.good for outcome in outcomes) else 1)


def told(outcomes: Iterable[Outcome], total: int) -> Iterator[Outcome]:
    """Pass outcomes on, and say on standard error how many there are: each on a terminal, else now and then."""
    drawn = sys.stderr.isatty()
    begun = said = time.monotonic()
    if not drawn:
        click.echo(f"judging {total} cheats and their honest twins, some seconds each", err=True)
    for number, outcome in enumerate(outcomes, start=1):
        now = time.monotonic()
        if drawn:
            end = "\n" if number == total else ""
            click.echo(f"\r{number} of {total}  {outcome.specimen.name:50}{end}", nl=False, err=True)
        elif now - said >= EVERY_S and number < total:
            said = now
            left = (now - begun) / number * (total - number)
            about = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
            click.echo(f"{number} of {total}, about {about} left", err=True)
        yield outcome


def _platform(name: str) -> Platform:
    platforms = catalogue.load()
    if name not in platforms:
        raise InputError(f"unknown platform '{name}'; {nearest(name, platforms)}")
    return platforms[name]


def table(outcomes: Iterable[Outcome], platform: Platform) -> Table:
    """Lay out one line for each specimen."""
    shown = Table(title=f"Cheats and their honest twins on {platform.title}", title_justify="left")
    for heading in ("cheat", "kind", "verdict", "reason", "named", "twin", "s"):
        shown.add_column(heading, justify="right" if heading == "s" else "left", no_wrap=heading == "cheat")
    for outcome in outcomes:
        shown.add_row(
            outcome.specimen.name, outcome.specimen.about.kind, _verdict(outcome.cheat, Status.FAIL),
            str(outcome.cheat.reason or ""), "yes" if outcome.caught else "[red]NO[/]",
            _verdict(outcome.honest, Status.PASS), f"{outcome.cheat.duration_s + outcome.honest.duration_s:.1f}",
        )  # fmt: skip
    return shown


def _verdict(verdict: Verdict, wanted: Status) -> str:
    return str(verdict.status) if verdict.status is wanted else f"[red]{verdict.status.upper()}[/]"


def summary(outcomes: list[Outcome]) -> str:
    """Count what matters in one line."""
    passing = sum(outcome.cheat.status is Status.PASS for outcome in outcomes)
    lucky = sum(outcome.cheat.status is Status.FAIL and not outcome.caught for outcome in outcomes)
    failing = sum(outcome.honest.status is not Status.PASS for outcome in outcomes)
    return (
        f"{len(outcomes)} cheats: {passing} pass, {lucky} get a reason that does not name them; "
        f"{failing} honest twins do not pass"
    )


if __name__ == "__main__":
    main()
