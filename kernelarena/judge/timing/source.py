"""Runs the two arms of a timing on a device, round by round, and tells what throttled it meanwhile."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kernelarena.judge.timing.arm import Request, TimedArm
from kernelarena.platforms.telemetry import Sample, Sampler, throttled
from kernelarena.protocol.timing import Arm, Order, Round


@dataclass
class Watch:
    """What telemetry says while arms run; a device without it is not known to throttle.

    Attributes
    ----------
    sampler
        Of the device, if it has one.
    samples
        Everything that was read.
    """

    sampler: Sampler | None
    samples: list[Sample] = field(default_factory=list)

    def throttled(self, began: int, ended: int) -> tuple[str, ...]:
        """Return why the device was throttled in an interval, monotonic ns."""
        if self.sampler is None:
            return ()
        reasons = throttled(self.samples, began, ended, self.sampler.facts) or []
        return tuple(sorted({reason.value for found in reasons for reason in found}))

    def look(self) -> None:
        """Read what has been sampled since the last time."""
        if self.sampler is not None:
            self.samples += self.sampler.take()


class DeviceSource:
    """The source of times that a timing protocol asks.

    Parameters
    ----------
    arms
        The two processes.
    calls
        Calls in each run.
    watch
        The device's telemetry.
    check
        Called with each request of the kernel's; raises if it shows what no kernel may do.
    """

    def __init__(
        self, arms: dict[Arm, TimedArm], calls: int, watch: Watch, check: Callable[[Request], None] = lambda _: None
    ) -> None:
        self._arms = arms
        self._calls = calls
        self._watch = watch
        self._check = check
        self.host: dict[Arm, list[float]] = {arm: [] for arm in Arm}
        """Seconds that the host took for each call, by arm."""
        self.bound: dict[Arm, int] = dict.fromkeys(Arm, 0)
        """Runs that the host's time is part of."""

    def warm_up(self, orders: Sequence[Order]) -> None:
        """Run each arm as often as the rounds have it, and forget the times, so that the order does not matter."""
        for arm, count in Counter(itertools.chain.from_iterable(orders)).items():
            deque(self._arms[arm].runs(count, self._calls), maxlen=0)

    def time(self, orders: Sequence[Order]) -> list[Round]:
        """Run rounds, and look what throttled the device when they are over."""
        timed = [(order, *self._round(order)) for order in orders]
        self._watch.look()
        return [Round(order, seconds, self._watch.throttled(began, ended)) for order, seconds, began, ended in timed]

    def _round(self, order: Order) -> tuple[tuple[float, ...], int, int]:
        seconds: list[float] = []
        requests: list[Request] = []
        for arm, count in _groups(order):
            for request in self._arms[arm].runs(count, self._calls):
                if arm is Arm.KERNEL:
                    self._check(request)
                requests.append(request)
                seconds += [run.device for run in request.runs]
                self.host[arm] += [run.host for run in request.runs]
                self.bound[arm] += sum(run.bound for run in request.runs)
        return tuple(seconds), requests[0].began, requests[-1].ended


def _groups(order: Order) -> Iterator[tuple[Arm, int]]:
    """Yield how many runs of which arm follow one another."""
    for arm, group in itertools.groupby(order):
        yield arm, len(list(group))
