"""How candidates end, in a verdict's words: each way has one reason, whatever gate it happened at.

=============================================  ===================  ================================================
what happens                                   reason               noticed by
=============================================  ===================  ================================================
no answer before the deadline                  ``timeout``          the judge; the line comes from the printed stack
SIGSEGV, SIGBUS                                ``illegal-access``   its first process
SIGSEGV more than 100 calls deep               ``crash``            the same: endless recursion, not a stray access
SIGABRT and other signals, any exit code       ``crash``            its first process
SIGKILL while the system was out of memory     ``out-of-memory``    the system's count of those that it killed for it
SIGKILL else                                   ``crash``            the kernel did it: nobody else can see it
a stop (SIGSTOP)                               ``crash``            its first process, at once
more memory than it may use, files included    ``out-of-memory``    its first process, ten times a second
more processes or threads than it may run      ``crash``            the same; beyond that the system refuses more
its wire closed while it lives on              ``judge-tampering``  the judge: a crash closes it too, but then it ended
an answer that nobody asked for, too long, or  ``judge-tampering``  the judge
not of its form
the end of the zygote or of the first process  not the kernel's     the judge; with every layer in place a kernel can
                                                                    do neither
=============================================  ===================  ================================================
"""

from __future__ import annotations

import os
import signal
from typing import Any

from kernelarena.judge.sandbox import Quota
from kernelarena.spec import Location, Reason

HUNG_UP = (
    Reason.JUDGE_TAMPERING,
    "it closed its connection to the judge and went on; a kernel has no reason to close what it has not opened",
)
"""A candidate that lives on with its wire closed: a crash closes it too, but then the process has ended."""
BROKEN_OFF = 76  # EX_PROTOCOL
"""Exit code of a candidate that finds its own end of the wire unusable."""
UNASKED = (Reason.JUDGE_TAMPERING, "it sent an answer to a question that was not asked")

_SIGNALS: dict[int, tuple[Reason, str]] = {
    signal.SIGSEGV: (Reason.ILLEGAL_ACCESS, "it accessed memory that is not its own (SIGSEGV)"),
    signal.SIGBUS: (Reason.ILLEGAL_ACCESS, "it accessed memory that is not there (SIGBUS)"),
    signal.SIGABRT: (Reason.CRASH, "it aborted (SIGABRT)"),
    signal.SIGFPE: (Reason.CRASH, "it divided by zero (SIGFPE)"),
    signal.SIGILL: (Reason.CRASH, "it executed an illegal instruction (SIGILL)"),
}
_OVERFLOW = (Reason.CRASH, "its stack overflowed (SIGSEGV, more than 100 calls deep): is a recursion endless?")
_NO_MEMORY = (Reason.OUT_OF_MEMORY, "the system ran out of memory and ended it (SIGKILL)")
_KILLED = (Reason.CRASH, "it was killed (SIGKILL), and not for lack of memory: did it end itself?")


class CandidateEnded(Exception):
    """The candidate crashed, hung, outgrew its quota or broke the conversation off.

    Parameters
    ----------
    reason
        ``timeout``, ``out-of-memory``, ``illegal-access``, ``crash`` or ``judge-tampering``.
    detail
        What happened, as the end of a sentence about the kernel.
    location
        The kernel's own line that was being executed, where that is known.
    exit_code
        As :mod:`subprocess` gives it, negative for a signal; None if the judge had to end it.
    """

    def __init__(
        self, reason: Reason, detail: str, location: Location | None = None, exit_code: int | None = None
    ) -> None:
        super().__init__(detail)
        self.exit_code = exit_code
        self.reason = reason
        self.detail = detail
        self.location = location


def died(status: int, location: Location | None, *, no_memory: bool, deep: bool = False) -> CandidateEnded:
    """Return how a process ended by itself.

    Parameters
    ----------
    status
        As :func:`os.waitpid` gives it.
    location
        The kernel's line that it was at.
    no_memory
        Whether the system has ended processes meanwhile because memory ran out.
    deep
        Whether it was more calls deep than are printed of a stack.
    """
    code = os.waitstatus_to_exitcode(status)
    if code == BROKEN_OFF:
        return CandidateEnded(*HUNG_UP, location, code)
    if code >= 0:
        return CandidateEnded(Reason.CRASH, f"its process ended by itself with exit code {code}", location, code)
    if -code == signal.SIGKILL:
        why = _NO_MEMORY if no_memory else _KILLED
    elif -code == signal.SIGSEGV and deep:
        why = _OVERFLOW
    else:
        why = _SIGNALS.get(-code, (Reason.CRASH, f"{signal_name(-code)} ended it"))
    return CandidateEnded(*why, location, code)


def outgrew(used: dict[str, Any], quota: Quota) -> tuple[Reason, str]:
    """Return which limit a candidate went over, with all that it has started."""
    if used["processes"] > quota.processes:
        return Reason.CRASH, f"it ran {used['processes']} processes; it may run {quota.processes}"
    if used["tasks"] > quota.tasks:
        return Reason.CRASH, f"it ran {used['tasks']} processes and threads; it may run {quota.tasks}"
    taken, limit = used["bytes"] >> 20, quota.resident >> 20
    return Reason.OUT_OF_MEMORY, f"it used {taken} MiB of memory; it may use {limit} MiB"


def stopped(number: int) -> tuple[Reason, str]:
    """Return what is said of a candidate that has been stopped: nothing in its surroundings does that."""
    return Reason.CRASH, f"it stopped itself ({signal_name(number)})"


def signal_name(number: int) -> str:
    """Return ``SIGSEGV``, or ``signal 35`` for one of those that have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
