"""When there are samples enough."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from kernelarena.errors import InputError, nearest
from kernelarena.protocol.timing.estimate import Estimate
from kernelarena.spec.base import StrEnum


class Stop(StrEnum):
    """Why sampling ended."""

    COMPLETE = "complete"
    """As many samples as were asked for."""
    PRECISE = "precise"
    """The intervals are narrow enough."""
    SAMPLE_CAP = "sample-cap"
    """They are not, but that many samples are the most that are taken."""
    TIME_CAP = "time-cap"
    """They are not, but it takes too long."""
    THROTTLED = "throttled"
    """Too few samples were taken while the chip did not throttle."""


@dataclass(frozen=True)
class Progress:
    """How far sampling has come. Samples are counted per arm."""

    kept: int
    dropped: int
    """Samples thrown away because the chip was throttled."""
    seconds: float
    """Time spent so far, s."""
    intervals: Callable[[], tuple[Estimate, Estimate, Estimate]]
    """Returns the medians of both arms and their ratio; called only when it matters, for it costs time."""


class StoppingRule(ABC):
    """Decides after each batch whether another is needed. Rules hold no state: everything is in the progress."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def fewest(self) -> int:
        """The fewest samples per arm with which it may be content."""

    @abstractmethod
    def decide(self, progress: Progress) -> int | Stop:
        """Return how many more samples per arm to take, or why to stop."""


RULES: dict[str, type[StoppingRule]] = {}
"""By name."""
R = TypeVar("R", bound=type[StoppingRule])


def register(rule: R) -> R:
    """Add a rule to :data:`RULES`; a class decorator."""
    RULES[rule.name] = rule
    return rule


def stopping_rule(name: str, **settings: Any) -> StoppingRule:
    """Return the rule of that name.

    Raises
    ------
    InputError
        If there is none, or it has no such setting.
    """
    if name not in RULES:
        raise InputError(f"no stopping rule '{name}'; {nearest(name, RULES)}")
    try:
        return RULES[name](**settings)
    except (TypeError, ValueError) as error:
        raise InputError(f"stopping rule '{name}': {error}") from None


@register
@dataclass(frozen=True)
class FixedCount(StoppingRule):
    """A given number of samples, whatever they say."""

    name: ClassVar[str] = "fixed"
    samples: int = 100
    """Per arm."""
    tries: int = 5
    """So many times that number are taken at most, where samples are dropped."""

    def __post_init__(self) -> None:
        if self.samples < 1 or self.tries < 1:
            raise ValueError(f"{self.samples} samples in {self.tries} tries cannot be")

    @property
    def fewest(self) -> int:
        """The given number."""
        return self.samples

    def decide(self, progress: Progress) -> int | Stop:
        """Return what is missing, until too much has been dropped."""
        if progress.kept >= self.samples:
            return Stop.COMPLETE
        if progress.kept + progress.dropped >= self.samples * self.tries:
            return Stop.THROTTLED
        return self.samples - progress.kept


@register
@dataclass(frozen=True)
class Precision(StoppingRule):
    """At least so many samples, then until the intervals are narrow, or a cap is reached."""

    name: ClassVar[str] = "precision"
    least: int = 100
    """Samples per arm below which nothing is decided."""
    median: float = 0.01
    """The interval of each arm's median is within this of it, to either side."""
    ratio: float = 0.005
    """And that of the speedup: narrower, because a 3 % difference is to be told from none."""
    samples: int = 1000
    """The most samples per arm, dropped ones included."""
    seconds: float = 2.0
    """Time after which no more than the least number of samples are taken, s."""

    def __post_init__(self) -> None:
        if not 0 < self.least <= self.samples:
            raise ValueError(f"at least {self.least} and at most {self.samples} samples cannot both be")
        if not (self.median > 0 and self.ratio > 0 and self.seconds > 0):
            raise ValueError("median, ratio and seconds must be positive")

    @property
    def fewest(self) -> int:
        """The least number below which nothing is decided."""
        return self.least

    def decide(self, progress: Progress) -> int | Stop:
        """Return the next batch: so large as the width of the intervals, falling with √n, lets expect."""
        taken = progress.kept + progress.dropped
        left = self.samples - taken
        late = progress.seconds >= self.seconds
        if progress.kept < self.least:
            if progress.dropped and (left <= 0 or late):
                return Stop.THROTTLED
            return min(self.least - progress.kept, max(1, left))
        baseline, kernel, ratio = progress.intervals()
        excess = max(
            baseline.precision / self.median,
            kernel.precision / self.median,
            ratio.precision / self.ratio,
        )
        if excess <= 1:
            return Stop.PRECISE
        if left <= 0:
            return Stop.SAMPLE_CAP
        if late:
            return Stop.TIME_CAP
        # At most doubled at once: the first samples tell little of the spread.
        wanted = min(excess**2 - 1, 1.0) * progress.kept
        affordable = self._affordable(progress, taken)
        return min(left, max(math.ceil(wanted), self.least // 4), affordable)

    def _affordable(self, progress: Progress, taken: int) -> int:
        """Return how many samples fit into the time that is left, at the pace so far; at least one."""
        if progress.seconds <= 0:
            return self.samples
        return max(1, math.floor((self.seconds - progress.seconds) * taken / progress.seconds))
