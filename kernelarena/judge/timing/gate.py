"""The timing gate of one kernel: which shapes, in which protocol, and what may be said of the figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from kernelarena.judge.answer import Finding
from kernelarena.judge.gates import Venue, not_its_own
from kernelarena.judge.inspection import Inspector
from kernelarena.judge.problems import Problem, trial_seed
from kernelarena.judge.timing.arm import MOST_PLACES, Request, TimedArm, TimingFailed
from kernelarena.judge.timing.baseline import NoBaseline
from kernelarena.judge.timing.clock import Told, believed, slower_than_told
from kernelarena.judge.timing.marks import Marks
from kernelarena.judge.timing.source import DeviceSource, Watch
from kernelarena.platforms.telemetry import Energy, energy
from kernelarena.protocol.timing import (
    Arm,
    Bound,
    Claim,
    NoiseFloor,
    Timing,
    TimingProtocol,
    Work,
    calls_per_sample,
    claim,
    impossible,
    least_time,
    measure,
)
from kernelarena.spec import Efficiency, Gate, Kernel, Language, Reason, Shape, Speedup, TaskSource, TimedShape
from kernelarena.spec.roofline import roofline

_PROBLEMS = 3
"""With known answers, for each shape."""
_FIRST = 3
"""Runs by which it is decided how many calls a run must have."""
_MOST_BYTES = 1 << 30
"""Inputs of one shape; larger ones lie in fewer places."""
_ENERGY_SECONDS = 0.3
"""For energy counters that change a few times a second, and power that is an average."""
_SHARE_OF_MEMORY = 1 / 64
"""Of the device: a shape whose tensors take more is not timed."""


@dataclass(frozen=True)
class Side:
    """One of the two that are timed.

    Attributes
    ----------
    name
        What the report calls it.
    inspector
        Of its process, which has loaded it.
    doubted
        Whether a baseline may be by the author of the kernel that it is timed beside.
    """

    name: str
    inspector: Inspector
    doubted: bool = False


class Timer:
    """Times kernels of any task on one device.

    Parameters
    ----------
    venue
        The device.
    protocol
        How much, in which order, until when.
    watch
        Its telemetry.
    floor
        What it makes of identical kernels.
    marks
        How good its marks are.
    memory
        Its bytes.
    seed
        Decides, with the run's hidden seed, what nobody can foresee.
    """

    def __init__(
        self,
        venue: Venue,
        protocol: TimingProtocol,
        watch: Watch,
        floor: NoiseFloor,
        marks: Marks,
        memory: int,
        seed: int,
    ) -> None:
        self._venue = venue
        self._protocol = protocol
        self._watch = watch
        self._floor = floor
        self._marks = marks
        self._memory = memory
        self._seed = seed

    def time(self, kernel: Kernel, task: TaskSource, mine: Side, baseline: Side) -> Iterator[TimedShape]:
        """Time a kernel on the published shapes, each in one of the dtypes.

        Yields
        ------
        TimedShape
            As they come.

        Raises
        ------
        TimingFailed
            If a call failed, was wrong, or cannot have taken the time that it is said to have taken.
        CandidateEnded
            If a process ended.
        NoBaseline
            If the baseline is doubted, and the judge's clock does not agree with the times of both.
        """
        shapes = timed_shapes(task)
        clocked = Random(trial_seed(self._seed, task.task.id, "clock", 0)).choice(shapes)
        for index, shape in enumerate(shapes):
            if task.task.bytes(shape) > self._memory * _SHARE_OF_MEMORY:
                continue
            rng = Random(trial_seed(self._seed, task.task.id, "timing", index))
            seeds = [trial_seed(self._seed, task.task.id, f"timing/{index}", number) for number in range(_PROBLEMS)]
            problems = [self._venue.problems.problem(task, shape, seed) for seed in seeds]
            with self._arm(mine, problems, rng) as arm, self._arm(baseline, problems, rng, trusted=True) as other:
                arms = {Arm.KERNEL: arm, Arm.BASELINE: other}
                yield self._shape(kernel, task, shape, arms, baseline, rng, clocked=shape == clocked)

    def _arm(self, side: Side, problems: Sequence[Problem], rng: Random, *, trusted: bool = False) -> TimedArm:
        places = MOST_PLACES if problems[0].bytes < _MOST_BYTES else 1
        return TimedArm(side.inspector, problems, self._venue.exchange, rng, self._marks, places, trusted=trusted)

    def _shape(
        self,
        kernel: Kernel,
        task: TaskSource,
        shape: Shape,
        arms: dict[Arm, TimedArm],
        baseline: Side,
        rng: Random,
        *,
        clocked: bool,
    ) -> TimedShape:
        def check(request: Request) -> None:
            if (why := not_its_own(request.observed, kernel, task, shape)) is not None:
                raise TimingFailed(Finding(*why))
            if request.idle and kernel.language is not Language.TORCH:
                raise TimingFailed(Finding(Reason.CACHED_RESULT, _IDLE))

        calls = calls_per_sample(min(map(quickest, arms.values())), self._marks.step)
        source = DeviceSource(arms, calls, self._watch, check)
        timing = measure(source, self._protocol, rng)
        arms[Arm.KERNEL].run(calls, audit=True)  # what was noticed since the last look is told now
        if timing.kernel is not None:
            bound = self._bound(task, shape)
            if bound is not None and (why := impossible(timing.kernel.median, bound)):
                raise TimingFailed(Finding(Reason.FASTER_THAN_PHYSICS, why))
            if clocked:  # one shape of them, which nobody can foresee: it takes as long as timing one
                self._hold_against_the_clock(timing, arms, source, doubted=baseline.doubted)
        spent = None
        if timing.kernel is not None and shape == _largest(task):
            spent = self._energy(arms[Arm.KERNEL], timing.kernel.median.value)
        told = _told(
            shape, timing, claim(timing, self._floor), source, self._efficiency(task, shape, timing), baseline.name
        )
        return (
            told
            if spent is None
            else told.model_copy(update={"energy": spent.joules, "energy_error": spent.uncertainty})
        )

    def _hold_against_the_clock(
        self, timing: Timing, arms: dict[Arm, TimedArm], source: DeviceSource, *, doubted: bool
    ) -> None:
        tellers = {
            arm: Told(arms[arm], part.median.value, statistics.median(source.host[arm])) for arm, part in _arms(timing)
        }
        if doubted and not all(map(believed, tellers.values())):
            raise NoBaseline(_UNCONFIRMED)
        if why := slower_than_told(tellers[Arm.KERNEL], tellers[Arm.BASELINE]):
            raise TimingFailed(Finding(Reason.TIMER_TAMPERING, why))

    def _energy(self, arm: TimedArm, told: float) -> Energy | None:
        """Return the energy of a call, from as many in a row as fill some time.

        Only where calls can be recorded, so that the device does nothing else and never waits for the host: what an
        idle device takes is not the kernel's.
        """
        if self._watch.sampler is None:
            return None
        done = arm.repeated(_ENERGY_SECONDS, told)
        if done is None:
            return None
        calls, began, ended = done
        self._watch.look()
        spent = energy(self._watch.samples, began, ended, self._watch.sampler.facts)
        return None if spent is None else spent.per(calls)

    def _bound(self, task: TaskSource, shape: Shape) -> Bound | None:
        work = Work(task.task.flops(shape), task.task.bytes(shape), task.task.bytes(shape) / 2)
        return least_time(work, self._venue.problems.platform, flushed=True)

    def _efficiency(self, task: TaskSource, shape: Shape, timing: Timing) -> float | None:
        roof = roofline(task.task, shape, self._venue.problems.platform)
        return None if roof is None or timing.kernel is None else roof.seconds / timing.kernel.median.value


_UNCONFIRMED = "its times and those of its original are not both confirmed by the judge's clock"
_IDLE = "it launched less often than it was called; compute every call's answer from its inputs"


def timed_shapes(task: TaskSource) -> list[Shape]:
    """Return the published shapes, each in one dtype: the dtypes in turn, over the shapes."""
    declared = task.task
    return [
        Shape(dims=dims, dtype=declared.dtypes[index % len(declared.dtypes)], distribution=declared.distributions[0])
        for index, dims in enumerate(declared.visible)
    ]


def _largest(task: TaskSource) -> Shape:
    return max(timed_shapes(task), key=task.task.bytes)


def over_shapes(timed: Sequence[TimedShape]) -> dict[str, Any]:
    """Return what a verdict says of all timed shapes together: the median over shapes, of each figure.

    A shape that has no figure is left out; one shape cannot win for the others.
    """
    ratios = [shape.speedup for shape in timed if shape.speedup is not None]
    shares = [shape.efficiency for shape in timed if shape.efficiency is not None]
    fields: dict[str, Any] = {"timings": tuple(timed)}
    if ratios:
        low, high = (statistics.median(ratio.ci[end] for ratio in ratios) for end in (0, 1))
        middle = statistics.median(ratio.median for ratio in ratios)
        fields["speedup"] = Speedup(median=middle, ci=(low, high), baseline=ratios[0].baseline)
    if shares:
        fields["efficiency"] = Efficiency(architectural=statistics.median(shares))
    return fields


def failed(failure: TimingFailed, timed: Sequence[TimedShape]) -> dict[str, Any]:
    """Return the fields of a verdict that the timing gate fails."""
    finding = failure.finding
    return {
        "gate": Gate.TIMING,
        "reason": finding.reason,
        "detail": f"when timed: {finding.detail}",
        "location": finding.location,
        "timings": tuple(timed),
    }


def quickest(arm: TimedArm) -> float:
    """Return the least time of a few calls, s; one of them is looked at."""
    return min(run.device for request in arm.runs(_FIRST, audit=True) for run in request.runs)


def _told(
    shape: Shape, timing: Timing, said: Claim, source: DeviceSource, efficiency: float | None, baseline: str
) -> TimedShape:
    ratio = timing.speedup
    times = {arm: part.median.value for arm, part in _arms(timing)}
    notes = [timing.problem] if timing.problem else []
    if source.bound[Arm.KERNEL] * 2 > len(source.host[Arm.KERNEL]):
        notes.append("the host could not keep ahead of the device: its time is part of the kernel's")
    return TimedShape(
        shape=shape,
        kernel=times.get(Arm.KERNEL),
        baseline=times.get(Arm.BASELINE),
        speedup=None if ratio is None else Speedup(median=ratio.value, ci=(ratio.low, ratio.high), baseline=baseline),
        claim=said.difference.value,
        noise=said.floor,
        samples=timing.kept,
        dropped=timing.dropped,
        launch=statistics.median(source.host[Arm.KERNEL]) if source.host[Arm.KERNEL] else None,
        efficiency=efficiency,
        notes=tuple(notes),
    )


def _arms(timing: Timing) -> Iterator[tuple[Arm, Any]]:
    for arm, part in ((Arm.KERNEL, timing.kernel), (Arm.BASELINE, timing.baseline)):
        if part is not None:
            yield arm, part
