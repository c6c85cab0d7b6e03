"""The command line: ``kab-mc``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from kernelarena.errors import InfraError, KernelArenaError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``kab-mc`` and end the process with its exit code.

    0: done. 1: a requested gate failed. 2: the user's input is wrong. 3: infrastructure kept it from finishing.
    A mistake of the user's is one line on standard error; a traceback is a bug of ours.
    """
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run ``kab-mc`` and return its exit code."""
    from kernelarena.cli.commands import kab_mc
    from kernelarena.cli.reader import ReaderGone, abandon

    try:
        result = kab_mc.main(args=arguments, prog_name="kab-mc", standalone_mode=False)
    except KernelArenaError as error:
        _complain(str(error))
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return InfraError.exit_code
    except ReaderGone:
        abandon(sys.stdout)
        return 0
    return result if isinstance(result, int) else 0


def _complain(message: str) -> None:
    # Messages quote submissions, which are strangers' text: nothing in them may steer the terminal.
    safe = "".join(letter if letter.isprintable() else "�" for letter in " ".join(message.split()))
    click.echo(f"kab-mc: {safe}", err=True)
