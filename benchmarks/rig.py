"""A device as a run has it: opened, with its marks and telemetry, and processes in which known kernels are timed."""

from __future__ import annotations

import argparse
import contextlib
import statistics
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from benchmarks.known_kernels import Curve, Known, curve
from kernelarena.errors import nearest
from kernelarena.judge.gates import load
from kernelarena.judge.inspection import Inspector
from kernelarena.judge.measuring import Bench, DeviceUnhealthy
from kernelarena.judge.problems import Problem
from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import Session
from kernelarena.judge.timing.arm import TimedArm
from kernelarena.judge.timing.bench import protocol_of
from kernelarena.judge.timing.pairs import Member, time_pair
from kernelarena.judge.zygote import Mode, Zygote
from kernelarena.platforms import catalogue
from kernelarena.protocol.timing import Arm, NoiseFloor, Timing
from kernelarena.spec import Platform, Shape, Sweep

_QUOTA = Quota(address_space=None, resident=16 << 30)
_PROBLEMS = 2
_RUNS = 40


class Rig:
    """Times known kernels on one device, as kernels of a sweep are.

    Parameters
    ----------
    platform
        A chip that is in this host.
    seed
        Of orders and inputs.

    Raises
    ------
    DeviceUnhealthy
        If it is not.
    """

    def __init__(self, platform: Platform, seed: int = 0) -> None:
        self.bench = Bench(platform)
        self.language = self.bench.probe.language
        self._sweep = Sweep()
        self._zygote = Zygote(Mode.COMPILE, self.bench.paths)
        self._rng = Random(seed)

    def __enter__(self) -> Rig:
        return self

    def __exit__(self, *_: object) -> None:
        self.bench.timing.close()
        self._zygote.close()

    def floor(self) -> NoiseFloor:
        """Return the noise floor that a run would have."""
        return self.bench.timing.floor(self._zygote, protocol_of(self._sweep), self._sweep)

    @contextlib.contextmanager
    def process(self, known: Known) -> Iterator[Inspector]:
        """Start a process that has loaded a kernel, and end it afterwards."""
        kernel = known.kernel(self.language)
        with Session(self._zygote, kernel, _QUOTA) as session:
            load(session, kernel, known.task, self.bench.venue, self._sweep)
            yield Inspector(session, kernel, known.task, self._sweep.deadlines.call)

    def problems(self, known: Known, shape: Shape) -> Sequence[Problem]:
        """Return what is asked of a kernel on one shape."""
        return [self.bench.venue.problems.problem(known.task, shape, seed) for seed in range(_PROBLEMS)]

    def seconds(self, known: Known, process: Inspector, shape: Shape, runs: int = _RUNS) -> float:
        """Return the median time of a kernel on one shape, caches flushed, s."""
        exchange, marks = self.bench.venue.exchange, self.bench.timing.marks
        with TimedArm(process, self.problems(known, shape), exchange, self._rng, marks, trusted=True) as arm:
            arm.run(audit=True)
            requests = list(arm.runs(runs))
        return statistics.median(run.device for request in requests for run in request.runs)

    def curve(self, known: Known, longest: float) -> Curve:
        """Measure how long a kernel takes, up to ``longest`` seconds."""
        with self.process(known) as process:
            return curve(known, longest, lambda shape: self.seconds(known, process, shape))

    def pair(self, known: Known, processes: Mapping[Arm, Inspector], shapes: Mapping[Arm, Shape]) -> Timing:
        """Time two processes of one kernel beside each other, each on a shape of its own."""
        members = {arm: Member(process, self.problems(known, shapes[arm])) for arm, process in processes.items()}
        timing = self.bench.timing
        protocol = protocol_of(self._sweep)
        return time_pair(members, self.bench.venue.exchange, timing.marks, timing.watching(), protocol, self._rng)


@contextlib.contextmanager
def opened(platform: Platform, parser: argparse.ArgumentParser, seed: int = 0) -> Iterator[Rig]:
    """Open the device of a platform; where it is not here, end with a line that says so."""
    try:
        rig = Rig(platform, seed)
    except DeviceUnhealthy as unhealthy:
        parser.error(str(unhealthy))
    with rig:
        yield rig


def platform_named(name: str, parser: argparse.ArgumentParser) -> Platform:
    """Return a platform by its name; where there is none, end with a line that says so."""
    platforms = catalogue.load()
    if name not in platforms:
        parser.error(f"no platform '{name}'; {nearest(name, platforms)}")
    return platforms[name]
