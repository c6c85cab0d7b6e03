"""The loop that takes samples until its protocol is satisfied; it knows no device, only a source of times."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from kernelarena.protocol.timing.estimate import Estimate, median
from kernelarena.protocol.timing.preset import TimingProtocol
from kernelarena.protocol.timing.ratio import speedup, speedup_of_medians
from kernelarena.protocol.timing.rounds import RUNS_PER_ROUND, Arm, Order, Round, interleaved, means, sequential, times
from kernelarena.protocol.timing.stopping import Progress, Stop


class Source(Protocol):
    """What runs the two arms and times them: a device, or a model of one."""

    def warm_up(self, orders: Sequence[Order]) -> None:
        """Run these rounds and forget their times."""

    def time(self, orders: Sequence[Order]) -> Sequence[Round]:
        """Run these rounds, one after the other, and return them as timed, with what throttled the chip meanwhile."""


@dataclass(frozen=True)
class ArmTiming:
    """One arm."""

    median: Estimate
    """s; over rounds, of the mean in each."""
    mean: float
    """s. What protocols report that average; it follows every outlier."""
    least: float
    """s."""


@dataclass(frozen=True)
class Timing:
    """What timing a kernel beside its baseline gave. Without enough samples there is no kernel, baseline or speedup."""

    protocol: str
    stop: Stop
    kernel: ArmTiming | None
    baseline: ArmTiming | None
    speedup: Estimate | None
    """Time of the baseline over time of the kernel."""
    kept: int
    """Samples per arm."""
    dropped: int
    """Samples per arm that were taken while the chip throttled."""
    seconds: float
    """What it took, s."""
    throttled: dict[str, int] = field(default_factory=dict)
    """Rounds that each reason was the end of."""

    @property
    def problem(self) -> str:
        """Why there is no figure, or why it is less precise than asked for; empty where nothing is wrong."""
        if self.speedup is None:
            reasons = ", ".join(self.throttled) or "no reason given"
            return (
                f"only {self.kept} of {self.kept + self.dropped} samples were taken while the chip did not throttle "
                f"({reasons}); cool it, raise its power limit or fix its clocks"
            )
        if self.stop in (Stop.SAMPLE_CAP, Stop.TIME_CAP):
            return f"the interval was still ±{self.speedup.precision:.1%} when sampling ended ({self.stop})"
        return ""


def measure(
    source: Source, protocol: TimingProtocol, rng: Random, clock: Callable[[], float] = time.monotonic
) -> Timing:
    """Time the two arms of ``source`` until ``protocol`` is satisfied.

    Warm-up comes first. Then rounds are taken in batches; one during which the chip throttled for a reason that the
    protocol does not tolerate is dropped as a whole, since half a round compares nothing, and taken again.

    Parameters
    ----------
    source
        What runs and times.
    protocol
        How much, in which order, until when.
    rng
        Tosses the coins for the order of runs; kernels must not be able to foresee it.
    clock
        Seconds that pass, for the caps.

    Raises
    ------
    ValueError
        If the source returns other rounds than it was asked for.
    """
    started = clock()
    source.warm_up(_orders(protocol, protocol.warm_ups, rng))
    kept: list[Round] = []
    dropped: list[Round] = []
    while True:
        progress = Progress(
            kept=_samples(kept),
            dropped=_samples(dropped),
            seconds=clock() - started,
            intervals=lambda: (
                median(_observations(kept, Arm.BASELINE, protocol), protocol.confidence),
                median(_observations(kept, Arm.KERNEL, protocol), protocol.confidence),
                _ratio(kept, protocol),
            ),
        )
        decision = protocol.rule.decide(progress)
        if isinstance(decision, Stop):
            break
        orders = _orders(protocol, decision, rng)
        timed = source.time(orders)
        if [entry.order for entry in timed] != orders:
            raise ValueError("the source returned other rounds than it was asked for")
        for entry in timed:
            (dropped if protocol.disqualifies(entry.throttled) else kept).append(entry)
    return _timing(protocol, decision, kept, dropped, clock() - started)


def _orders(protocol: TimingProtocol, samples: int, rng: Random) -> list[Order]:
    """Return rounds with at least ``samples`` runs of each arm."""
    if samples <= 0:
        return []
    return interleaved(-(-samples // RUNS_PER_ROUND), rng) if protocol.interleaved else sequential(samples)


def _samples(rounds: Sequence[Round]) -> int:
    """Return the runs of the arm that has fewer."""
    return min(sum(entry.order.count(arm) for entry in rounds) for arm in Arm)


def _observations(rounds: Sequence[Round], arm: Arm, protocol: TimingProtocol) -> list[float]:
    """Return the times whose median counts: of whole rounds, or of runs where the arms ran one after the other."""
    return means(rounds, arm) if protocol.interleaved else times(rounds, arm)


def _ratio(rounds: Sequence[Round], protocol: TimingProtocol) -> Estimate:
    if protocol.interleaved:
        return speedup(rounds, protocol.confidence)
    return speedup_of_medians(times(rounds, Arm.BASELINE), times(rounds, Arm.KERNEL), protocol.confidence)


def _timing(protocol: TimingProtocol, stop: Stop, kept: list[Round], dropped: list[Round], seconds: float) -> Timing:
    reasons = Counter(reason for entry in dropped for reason in entry.throttled if reason not in protocol.tolerated)
    arms: dict[Arm, ArmTiming] = {}
    ratio = None
    if stop is not Stop.THROTTLED:
        for arm in Arm:
            samples = times(kept, arm)
            centre = median(_observations(kept, arm, protocol), protocol.confidence)
            arms[arm] = ArmTiming(centre, mean=sum(samples) / len(samples), least=min(samples))
        ratio = _ratio(kept, protocol)
    return Timing(
        protocol=protocol.name,
        stop=stop,
        kernel=arms.get(Arm.KERNEL),
        baseline=arms.get(Arm.BASELINE),
        speedup=ratio,
        kept=_samples(kept),
        dropped=_samples(dropped),
        seconds=seconds,
        throttled=dict(reasons),
    )
