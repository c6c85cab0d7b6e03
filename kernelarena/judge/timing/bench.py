"""What timing keeps from kernel to kernel on one device: baselines, telemetry, and the noise floor of the run."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import Any

from kernelarena.judge import health
from kernelarena.judge.answer import Finding
from kernelarena.judge.case import Case
from kernelarena.judge.gates import Venue
from kernelarena.judge.inspection import Inspector
from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import CandidateEnded, Session
from kernelarena.judge.timing.arm import BaselineFailed, TimingFailed
from kernelarena.judge.timing.baseline import NoBaseline, eager
from kernelarena.judge.timing.beside import Beside, start
from kernelarena.judge.timing.gate import Side, Timer, failed, over_shapes
from kernelarena.judge.timing.marks import Marks, marks_of
from kernelarena.judge.timing.pairs import Member, time_pair
from kernelarena.judge.timing.source import Watch
from kernelarena.judge.zygote import Zygote
from kernelarena.platforms.backend import Device
from kernelarena.platforms.opened import OpenedDevice
from kernelarena.platforms.telemetry import Sampler, Summary, TelemetryUnavailable, summarise
from kernelarena.protocol.timing import (
    Arm,
    NoiseFloor,
    Precision,
    TimingProtocol,
    timing_protocol,
)
from kernelarena.spec import Shape, Status, Sweep, Telemetry, TimedShape

_PAIRS = (2e-6, 20e-6, 200e-6)
"""Seconds that the memory traffic of the A/A pairs takes at the chip's bandwidth."""
_SLOW = 1e9
"""B/s, where the platform file does not say; the pairs are short then."""


class TimingBench:
    """Times kernels on one device.

    Parameters
    ----------
    venue
        The device.
    source
        Its telemetry, as the backend names it.
    device
        What the runtime calls it.
    opened
        The same, as this process has it open.
    memory
        Its bytes.
    quota
        Of the processes that baselines run in.
    """

    def __init__(
        self, venue: Venue, source: str, device: Device, opened: OpenedDevice, memory: int, quota: Quota
    ) -> None:
        self._venue = venue
        self._opened = opened
        self._source = source
        self._chip = device
        self._memory = memory
        self._quota = quota
        self._beside = Beside(venue, quota)
        self._floors: dict[str, NoiseFloor] = {}
        self._watch: Watch | None = None
        self._unsaid: tuple[str, ...] = ()
        """What the next verdict says of all."""

    def close(self) -> None:
        """End what was started."""
        self._beside.close()
        if self._watch is not None and self._watch.sampler is not None:
            self._watch.sampler.close()
        self._watch = None

    def expect(self, zygote: Zygote, case: Case) -> None:
        """Have what a kernel will be timed beside open the device, while the kernel is judged.

        Raises
        ------
        VenueUnready
            If it cannot.
        """
        self._beside.expect(zygote, case)

    def dismiss(self) -> None:
        """Let go of what was expected for a kernel that is not timed after all."""
        self._beside.dismiss()

    def time(self, zygote: Zygote, session: Session, case: Case) -> dict[str, Any]:
        """Time a kernel that is right on the published shapes.

        Parameters
        ----------
        zygote
            The process to fork baselines from.
        session
            The kernel's process.
        case
            What is timed, and beside what.

        Returns
        -------
        dict
            Fields of the verdict; ``status`` among them where the kernel fails the gate.
        """
        kernel, task, sweep = case.kernel, case.task, case.sweep
        timed: list[TimedShape] = []
        protocol = protocol_of(sweep)
        watch = self.watching()
        began = time.monotonic_ns()
        baseline: Side | None = None
        try:
            baseline = self._beside.side(zygote, case)
            floor = self.floor(zygote, protocol, sweep)
            timer = Timer(self._venue, protocol, watch, floor, self.marks, self._memory, case.hidden_seed)
            mine = Side(kernel.id, Inspector(session, kernel, task, sweep.deadlines.call))
            timed.extend(timer.time(kernel, task, mine, baseline))
        except TimingFailed as failure:
            return {"status": Status.FAIL, **failed(failure, timed)}
        except BaselineFailed as failure:
            if baseline is not None:
                self._beside.forget(baseline)
            return {"notes": (f"not timed: the baseline failed ({failure})",), **over_shapes(timed)}
        except NoBaseline as why:
            return {"notes": (f"not timed: {why}",), "timings": ()}
        except CandidateEnded as ended:
            return {"status": Status.FAIL, **failed(TimingFailed(of(ended)), timed)}
        return over_shapes(timed) | self._telemetry(watch, began, timed)

    @cached_property
    def marks(self) -> Marks:
        """How good the device's marks are."""
        return marks_of(self._opened)

    def watching(self) -> Watch:
        """Return the device's telemetry, from now on."""
        if self._watch is None:
            sampler = None
            try:
                sampler = Sampler.start(self._source, pci=self._chip.pci, uuid=self._chip.uuid)
            except TelemetryUnavailable as why:
                self._unsaid = (f"telemetry is null: {why}",)
            self._watch = Watch(sampler)
        self._watch.look()
        self._watch.samples.clear()
        return self._watch

    def _telemetry(self, watch: Watch, began: int, timed: list[TimedShape]) -> dict[str, Any]:
        if watch.sampler is None:
            notes, self._unsaid = self._unsaid, ()
            return {"notes": notes} if notes else {}
        watch.look()
        spent = next((shape.energy for shape in timed if shape.energy is not None), None)
        return {"telemetry": told(summarise(watch.samples, began, time.monotonic_ns(), watch.sampler.facts), spent)}

    def floor(self, zygote: Zygote, protocol: TimingProtocol, sweep: Sweep) -> NoiseFloor:
        """Return the run's noise floor, which is measured once.

        Raises
        ------
        BaselineFailed
            If no pair of identical kernels could be timed.
        """
        if protocol.name not in self._floors:
            self._floors[protocol.name] = self._pairs(zygote, protocol, sweep)
        return self._floors[protocol.name]

    def _pairs(self, zygote: Zygote, protocol: TimingProtocol, sweep: Sweep) -> NoiseFloor:
        """Time a kernel beside itself, in a process of its own each, as kernels and baselines are."""
        rng = Random(0)
        timings = []
        watch = self.watching()
        twice = eager(health.TASK, self._venue.problems.names(health.TASK))
        with ExitStack() as until:
            sides = {}
            for arm in Arm:
                session, sides[arm] = start(zygote, twice, health.TASK, sweep, self._venue, self._quota)
                until.callback(session.close)
            memory = self._venue.problems.platform.memory
            bandwidth = (memory and memory.bandwidth) or _SLOW
            for seconds in _PAIRS:
                shape = Shape(dims={"N": max(1, int(bandwidth * seconds / 8))}, dtype="float32")
                problems = [self._venue.problems.problem(health.TASK, shape, seed) for seed in range(2)]
                members = {arm: Member(side.inspector, problems) for arm, side in sides.items()}
                timings.append(time_pair(members, self._venue.exchange, self.marks, watch, protocol, rng))
        try:
            return NoiseFloor.measured(timings)
        except ValueError:
            raise BaselineFailed(timings[-1].problem or "no pair of identical kernels could be timed") from None


def of(ended: CandidateEnded) -> Finding:
    """Return the end of a process as what was found."""
    return Finding(ended.reason, ended.detail, ended.location)


def protocol_of(sweep: Sweep) -> TimingProtocol:
    """Return the sweep's timing protocol."""
    protocol = timing_protocol(sweep.timing.protocol)
    if isinstance(protocol.rule, Precision):
        return replace(protocol, rule=replace(protocol.rule, seconds=sweep.timing.seconds))
    return protocol


def told(summary: Summary, spent: float | None) -> Telemetry:
    """Return what a verdict says of the device's state while a kernel was timed."""
    return Telemetry(
        power=None if summary.power_w is None else summary.power_w.mean,
        energy=spent,
        clock=None if summary.core_clock_mhz is None else summary.core_clock_mhz.mean,
        memory_clock=None if summary.memory_clock_mhz is None else summary.memory_clock_mhz.mean,
        temperature=None if summary.temperature_c is None else summary.temperature_c.most,
    )
