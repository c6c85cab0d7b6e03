"""The command line: ``kab-mc``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from kernelarena.errors import InfraError, KernelArenaError

_LINES = 20
"""Mistakes that are listed at most."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``kab-mc`` and end the process with its exit code.

    0: done. 1: a requested gate failed. 2: the user's input is wrong. 3: infrastructure kept it from finishing.
    A mistake of the user's is one line on standard error; a traceback is a bug of ours.
    """
    from kernelarena.cli import guests, streams

    streams.install()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # and not where it is ignored, as below nohup
            signal.signal(number, _interrupt)
    guests.leave(_outcome(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run ``kab-mc`` in a process that goes on, and return its exit code."""
    from kernelarena.cli import guests

    try:
        return _outcome(arguments)
    finally:
        guests.dismiss()


def _outcome(arguments: Sequence[str] | None) -> int:
    """Run a command and return the exit code; mistakes and trouble are said."""
    from kernelarena.cli.commands import kab_mc
    from kernelarena.cli.streams import OutputLost, ReaderGone

    try:
        result = kab_mc.main(args=arguments, prog_name="kab-mc", standalone_mode=False)
        sys.stdout.flush()
    except KernelArenaError as error:
        _complain(*error.problems)
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        from kernelarena.cli.usage import explain

        _complain(explain(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return InfraError.exit_code
    except ReaderGone:
        return 0
    except OutputLost as error:
        _complain(f"standard output cannot be written: {error}")
        return InfraError.exit_code
    except MemoryError:
        _complain("there is not enough memory")
        return InfraError.exit_code
    except OSError as error:
        from kernelarena.spec.places import is_shortage

        if not is_shortage(error):
            raise
        _complain(": ".join(filter(None, (str(error.filename or ""), error.strerror))))
        return InfraError.exit_code
    return result if isinstance(result, int) else 0


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """End in order, as after Ctrl-C: what was judged is kept, and what was started is ended."""
    raise KeyboardInterrupt


def _complain(*problems: str) -> None:
    # Messages quote submissions, which are strangers' text: nothing in them may steer the terminal.
    for message in problems[:_LINES]:
        safe = "".join(letter if letter.isprintable() else "�" for letter in " ".join(message.split()))
        click.echo(f"kab-mc: {safe}", err=True)
    if len(problems) > _LINES:
        click.echo(f"kab-mc: and {len(problems) - _LINES} more", err=True)
