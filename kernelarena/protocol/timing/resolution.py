"""How many calls to put into one sample, so that the timer's step does not drown the kernel."""

from __future__ import annotations

import math

SHARE = 0.01
"""The greatest share of a sample that one step of the timer may be. Of a hundred samples that noise spreads over the
steps, the mean is known far better than that."""


def calls_per_sample(seconds: float, step: float, share: float = SHARE, most: int = 1000) -> int:
    """Return how many calls a sample must span.

    Both arms need the same number, that of the faster one: timing one call of the slower beside a batch of the faster
    would compare different things.

    Parameters
    ----------
    seconds
        Duration of one call, s.
    step
        Step of the timer, s; 0 if it has none to speak of.
    share
        The greatest share of the sample that the step may be.
    most
        No more calls than this, whatever the timer.

    Raises
    ------
    ValueError
        If ``seconds`` or ``share`` is not positive, or ``step`` is negative.
    """
    if not (seconds > 0 and share > 0 and step >= 0):
        raise ValueError(f"{seconds} s in steps of {step} s, of which a share of {share}: not all of this can be")
    return max(1, min(most, math.ceil(step / (share * seconds) - 1e-9)))
