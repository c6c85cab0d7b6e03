"""The two exceptions that the command line turns into exit codes 2 and 3.

Anything else that escapes is a bug of ours and is allowed to show its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class KernelArenaError(Exception):
    """Base of the errors that are meant for the user; ``exit_code`` is what the process ends with."""

    exit_code = 1


class InputError(KernelArenaError):
    """The user's input is wrong (exit code 2).

    The message is one line that says what is wrong, where, and what to do about it.
    """

    exit_code = 2


class InfraError(KernelArenaError):
    """Something around the kernels (a device, a toolchain, a worker) kept the run from finishing (exit code 3)."""

    exit_code = 3


def nearest(word: str, known: Iterable[str], *, limit: int = 3) -> str:
    """Return a hint naming the known words closest to ``word``.

    Parameters
    ----------
    word
        What the user wrote.
    known
        Every word that would have been accepted.
    limit
        At most how many to name.

    Returns
    -------
    str
        ``"did you mean 'mi300' or 'mi250'?"``, or, when nothing is close, ``"known: …"``.
    """
    choices = sorted(set(known))
    close = difflib.get_close_matches(word, choices, n=limit, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(f"'{name}'" for name in close) + "?"
    if not choices:
        return "none are known"
    shown = ", ".join(choices[:20])
    return f"known: {shown}" + (f" and {len(choices) - 20} more" if len(choices) > 20 else "")
