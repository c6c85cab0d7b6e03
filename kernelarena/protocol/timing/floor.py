"""What a chip makes of two identical kernels: differences no greater than that are no differences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelarena.protocol.timing.measure import Timing

LEAST = 0.01
"""No difference below this is claimed however quiet the chip. Where code and data happen to lie in memory makes that
much of a difference, and it is the same in every sample of one process (T. Mytkowicz, A. Diwan, M. Hauswirth,
P. Sweeney: *Producing Wrong Data Without Doing Anything Obviously Wrong!*, ASPLOS 2009)."""


@dataclass(frozen=True)
class Pair:
    """One A/A pair."""

    seconds: float
    """How long the kernel ran, s."""
    bound: float
    """The farthest that the interval of the ratio reaches from 1: 0.008 reads ±0.8 %."""


@dataclass(frozen=True)
class NoiseFloor:
    """The noise floor of one device in one run, from A/A pairs of one or more durations."""

    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        if not self.pairs:
            raise ValueError("a noise floor needs an A/A pair")

    @classmethod
    def measured(cls, timings: Iterable[Timing]) -> NoiseFloor:
        """Return the floor that timings of kernels against themselves show.

        Raises
        ------
        ValueError
            If there is none among them with enough samples.
        """
        pairs = [
            Pair(timing.kernel.median.value, max(timing.speedup.high - 1, 1 / timing.speedup.low - 1))
            for timing in timings
            if timing.kernel is not None and timing.speedup is not None
        ]
        return cls(tuple(sorted(pairs, key=lambda pair: pair.seconds)))

    def at(self, seconds: float) -> float:
        """Return the floor for kernels that run that long, s: the greater of the pairs next to it, and `LEAST`.

        Much of the noise has a fixed size (timer, launch), so that it weighs more on shorter kernels: below the
        shortest pair its bound grows as the duration shrinks. Above the longest one it stays.
        """
        below = [pair for pair in self.pairs if pair.seconds <= seconds]
        above = [pair for pair in self.pairs if pair.seconds > seconds]
        if not below:
            return max(LEAST, self.pairs[0].bound * self.pairs[0].seconds / seconds)
        return max(LEAST, below[-1].bound, above[0].bound if above else 0.0)
