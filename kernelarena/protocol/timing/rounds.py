"""What is run and in which order, and what came of it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from kernelarena.spec.base import StrEnum


class Arm(StrEnum):
    """What is compared."""

    BASELINE = "baseline"
    KERNEL = "kernel"


Order = tuple[Arm, ...]
"""The runs of one round, one after the other."""
IN_A_ROW = 2
"""Runs of one arm after another: the host is then as quick as it is in a loop, and asks for them at once."""
_MIRRORED = tuple(
    tuple(arm for arm in order for _ in range(IN_A_ROW))
    for order in (
        (Arm.KERNEL, Arm.BASELINE, Arm.BASELINE, Arm.KERNEL),
        (Arm.BASELINE, Arm.KERNEL, Arm.KERNEL, Arm.BASELINE),
    )
)
RUNS_PER_ROUND = 2 * IN_A_ROW
"""Runs of each arm in an interleaved round."""


@dataclass(frozen=True)
class Round:
    """One round as it was timed."""

    order: Order
    seconds: tuple[float, ...]
    """Time of each run in ``order``, s."""
    throttled: tuple[str, ...] = ()
    """Why the chip was throttled in the meantime, if it was."""

    def __post_init__(self) -> None:
        if len(self.order) != len(self.seconds):
            raise ValueError(f"{len(self.seconds)} times for {len(self.order)} runs")
        if not all(0 < time < float("inf") for time in self.seconds):
            raise ValueError(f"times are positive numbers of seconds, not {self.seconds}")

    def of(self, arm: Arm) -> tuple[float, ...]:
        """Return the times of one arm, in order."""
        return tuple(time for which, time in zip(self.order, self.seconds, strict=True) if which is arm)

    def mean(self, arm: Arm) -> float:
        """Return the mean time of one arm, s.

        It is the mean and no median, so that a kernel gains nothing by doing in one run what belongs to others.
        """
        return statistics.fmean(self.of(arm))


def interleaved(count: int, rng: Random) -> list[Order]:
    """Return the orders of ``count`` rounds: mirrored, the one way or the other by the toss of a coin."""
    return [_MIRRORED[rng.getrandbits(1)] for _ in range(count)]


def sequential(runs: int) -> list[Order]:
    """Return one order with all of the baseline's runs and one with all of the kernel's."""
    return [(Arm.BASELINE,) * runs, (Arm.KERNEL,) * runs]


def times(rounds: Sequence[Round], arm: Arm) -> list[float]:
    """Return all times of one arm, s."""
    return [time for entry in rounds for time in entry.of(arm)]


def means(rounds: Sequence[Round], arm: Arm) -> list[float]:
    """Return the mean time of one arm in each round, s."""
    return [entry.mean(arm) for entry in rounds]
