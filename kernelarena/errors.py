"""The two exceptions that the command line turns into exit codes 2 and 3.

Anything else that escapes is a bug of ours and is allowed to show its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


class KernelArenaError(Exception):
    """Base of the errors that are meant for the user; ``exit_code`` is what the process ends with.

    Parameters
    ----------
    problems
        What is wrong, one line each; commonly one. As text, the error is the first and how many more there are.
    """

    exit_code = 1

    def __init__(self, *problems: str) -> None:
        first, *more = problems
        super().__init__(first + (f" (and {len(more)} more)" if more else ""))
        self.problems = problems
        """Every line, in the order in which a reader meets what it is about."""


class InputError(KernelArenaError):
    """The user's input is wrong (exit code 2).

    Each problem is one line that says what is wrong, where, and what to do about it. There are several where one file
    holds several mistakes: whoever puts it right wants to know them all.
    """

    exit_code = 2


class InfraError(KernelArenaError):
    """Something around the kernels (a device, a toolchain, a worker) kept the run from finishing (exit code 3)."""

    exit_code = 3


def quoted(name: str, *, limit: int = 100) -> str:
    """Return a name between quotes, for messages: no more of it than ``limit`` characters, as it may be anything."""
    return f"'{name}'" if len(name) <= limit else f"'{name[: limit - 1]}…'"


def nearest(word: str, known: Iterable[str], *, limit: int = 3, stands_for: Mapping[str, str] | None = None) -> str:
    """Return a hint naming the known words closest to ``word``.

    Parameters
    ----------
    word
        What the user wrote.
    known
        Every word that would have been accepted.
    limit
        At most how many to name.
    stands_for
        For words that are other names of something, the name to show in their place; each is named once.

    Returns
    -------
    str
        ``"did you mean 'mi300' or 'mi250'?"``, or, when nothing is close, ``"known: …"``.
    """
    names = stands_for or {}
    choices = sorted(set(known))
    close = difflib.get_close_matches(word, choices, n=limit, cutoff=0.5)
    if close:
        return (
            "did you mean " + " or ".join(f"'{name}'" for name in dict.fromkeys(names.get(w, w) for w in close)) + "?"
        )
    if not choices:
        return "none are known"
    choices = sorted({names.get(choice, choice) for choice in choices})
    shown = ", ".join(choices[:20])
    return f"known: {shown}" + (f" and {len(choices) - 20} more" if len(choices) > 20 else "")
