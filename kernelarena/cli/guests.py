"""A task's own code in a command's process: what it prints, and what it leaves running, is no part of the command.

Its functions are called by the judge, where that is this process. They may print, by Python or below it; start threads
that never end; and fork. From :func:`admit` on, results alone reach standard output, and :func:`leave` ends the process
with all that was started in it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import NoReturn, TextIO

from kernelarena.cli import streams


@dataclass(frozen=True)
class _House:
    """What was there before the guests, to be there again after them."""

    stdout: TextIO
    kept: int
    """A descriptor of what standard output was."""
    family: frozenset[int]
    """The processes below this one."""


_house: _House | None = None


def admit() -> TextIO:
    """Let nothing but results reach standard output: what else is printed from now on goes to standard error.

    Returns
    -------
    TextIO
        Where to write results.
    """
    global _house
    from kernelarena.judge.enclosure import population, privileges

    assert _house is None
    sys.stdout.flush()
    _house = _House(sys.stdout, os.dup(1), frozenset(population.below(os.getpid())))
    os.dup2(2, 1)
    sys.stdout = streams.remarks(1)
    privileges.adopt_orphans()  # so that none of them can be lost sight of
    return streams.results(_house.kept)


def dismiss() -> None:
    """End the processes that guests started, and put standard output back: for a process that goes on."""
    global _house
    if _house is not None:
        _end_processes(_house)
        sys.stdout.flush()
        sys.stdout = _house.stdout
        os.dup2(_house.kept, 1)
        os.close(_house.kept)
        _house = None


def leave(code: int) -> NoReturn:
    """End the process with an exit code, and the processes and threads of guests with it."""
    if _house is None:
        sys.exit(code)
    sys.stderr.flush()
    _end_processes(_house)
    os._exit(code)  # Python itself would wait for their threads, and call what they registered for its end


def _end_processes(house: _House) -> None:
    from kernelarena.judge.enclosure import population

    population.end_below(os.getpid(), house.family)
