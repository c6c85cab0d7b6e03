"""A verdict: the outcome of one cell, with the records that it rests on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from kernelarena.spec.base import Model
from kernelarena.spec.kernel import Language
from kernelarena.spec.shape import Shape
from kernelarena.spec.vocabulary import Evidence, Family, Gate, Reason, Status

Count = Annotated[int, Field(ge=0)]


class Location(Model):
    """A line of the kernel's own source."""

    file: str
    """Relative to the kernel's folder."""
    line: Annotated[int, Field(ge=1)]
    text: str = ""
    """The line itself."""


class Resources(Model):
    """What one compiled launch needs, and what the chip makes of it."""

    threads_per_block: Count
    warps: Count
    """``num_warps``."""
    stages: Count | None = None
    """``num_stages``."""
    shared_memory: Count
    """Bytes per block, static and dynamic."""
    registers: Count | None = None
    """Vector registers per thread."""
    scalar_registers: Count | None = None
    spills: Count | None = None
    """Registers spilled to memory, per thread."""
    scratch: Count | None = None
    """Bytes of private (local) memory per thread."""
    occupancy: Annotated[float, Field(ge=0, le=1)] | None = None
    """Resident warps over the most that a multiprocessor holds."""
    limited_by: str | None = None
    """What keeps occupancy from being higher: ``registers``, ``shared memory``, ``threads`` or ``blocks``."""


class Launch(Model):
    """One distinct specialisation of a device kernel that the host code launched, compiled for the platform."""

    kernel: str
    """The device function's name."""
    signature: str
    """Argument types and constexprs, in order: ``x: *fp16 (16-byte aligned), n: i32, BLOCK=1024``."""
    grid: tuple[int, ...]
    """Of its first launch."""
    count: Count = 1
    """How often it was launched over the shapes."""
    shape: Shape | None = None
    """The first shape that launched it."""
    resources: Resources | None = None
    """None when compilation failed."""
    seconds: float | None = None
    """Compilation time."""
    tuning: bool = False
    """Whether an autotuner was trying it as one of several configurations."""
    reason: Reason | None = None
    """Why it cannot run on the platform; None when it can."""
    detail: str = ""
    location: Location | None = None


class Trial(Model):
    """One call of the kernel whose output was checked."""

    shape: Shape
    passed: bool
    reason: Reason | None = None
    detail: str = ""
    error: float | None = None
    """Largest error against the float64 truth, in units of what the tolerance allows (1 is the edge)."""
    seconds: float | None = None
    """Wall time in the entry over the calls of the trial, as the kernel's process tells it; a sign of life, not a
    measurement."""
    location: Location | None = None


class Tally(Model):
    """How many of some shapes passed."""

    passed: Count = 0
    total: Count = 0


class FamilyTally(Tally):
    """A tally that keeps its families apart."""

    by_family: dict[Family, Tally] = {}


class Speedup(Model):
    """Baseline time over kernel time."""

    median: float
    ci: tuple[float, float]
    baseline: str


class Efficiency(Model):
    """Shares of what is attainable, 0 to 1."""

    architectural: float | None = None
    """Roofline time over measured time."""
    application: float | None = None
    """Best known time on that platform over measured time."""


class TimedShape(Model):
    """What timing a kernel beside its baseline gave on one shape."""

    shape: Shape
    kernel: float | None = None
    """Median time on the device, s, from caches that held nothing of it; None where too few samples could be used."""
    baseline: float | None = None
    """The baseline's, in the same rounds, s."""
    speedup: Speedup | None = None
    claim: str = "unknown"
    """``faster``, ``slower``, ``none`` (no difference that could be told from noise) or ``unknown``."""
    noise: float = 0.0
    """The floor below which no difference is claimed: 0.01 reads ±1 %."""
    samples: Count = 0
    """Of each, that count."""
    dropped: Count = 0
    """Of each, taken while the device throttled."""
    launch: float | None = None
    """Time that the host took to launch a call, s, with what observes it."""
    efficiency: float | None = None
    """Roofline time over the kernel's."""
    energy: float | None = None
    """J a call, of calls that follow each other; on one of the shapes, where the device tells."""
    energy_error: float | None = None
    """J, to both sides."""
    notes: tuple[str, ...] = ()


class Telemetry(Model):
    """The state of the device while samples were taken; None where it does not say."""

    power: float | None = None
    """W."""
    energy: float | None = None
    """J per execution."""
    clock: float | None = None
    """MHz, of the multiprocessors."""
    memory_clock: float | None = None
    """MHz."""
    temperature: float | None = None
    """Degrees Celsius."""


class Durations(Model):
    """Where the time of a cell went, s; 0 for what it did not come to.

    What is left of the whole is the judge's own: a process is forked, and ended.
    """

    compile: float = 0.0
    """The compile gate, or finding its answer in the cache."""
    load: float = 0.0
    """Opening the device or the emulator in the kernel's process, and importing the kernel there."""
    correctness: float = 0.0
    wait: float = 0.0
    """For others to leave the device, on which whoever takes times is alone."""
    timing: float = 0.0
    hidden: float = 0.0


class Verdict(Model):
    """The outcome of one (kernel, platform) cell."""

    task: str
    kernel: str
    language: Language
    home: str | None = None
    platform: str
    evidence: Evidence | None = None
    """None for cells that nothing is known about (skipped, infrastructure)."""
    status: Status
    gate: Gate | None = None
    """The gate that failed, or the last one that passed."""
    reason: Reason | None = None
    detail: str = ""
    """What happened and what to do about it, in one or two sentences."""
    location: Location | None = None
    visible: Tally = Tally()
    hidden: FamilyTally = FamilyTally()
    speedup: Speedup | None = None
    efficiency: Efficiency | None = None
    resources: Resources | None = None
    """Of the launch with the lowest occupancy among those that count."""
    telemetry: Telemetry | None = None
    toolchain: str | None = None
    """What built it, with its version: ``triton 3.9.0``. Part of the evidence."""
    notes: tuple[str, ...] = ()
    """What a reader should know of a passing cell: configurations that do not fit, framework operators used."""
    log: str = ""
    """The end of what the compiler or the kernel printed."""
    launches: tuple[Launch, ...] = ()
    trials: tuple[Trial, ...] = ()
    timings: tuple[TimedShape, ...] = ()
    has_speed: bool = True
    """Whether how fast it is says anything: not where the operator only says how memory is looked at."""
    duration_s: float = 0.0
    durations: Durations = Durations()
    attempts: Annotated[int, Field(ge=1)] = 1
    isolation: tuple[str, ...] | None = None
    """Layers of isolation that the kernel's process lacked, each with the reason; empty where it had all, None where no
    process was started."""
    cached: bool = False
    """Whether the compile gate's answer came from the cache."""

    @model_validator(mode="after")
    def _one_reason_per_failure(self) -> Verdict:
        if (self.reason is None) != (self.status is Status.PASS):
            raise ValueError(f"status '{self.status}' with reason '{self.reason}'")
        if self.status in (Status.PASS, Status.FAIL) and self.evidence is None:
            raise ValueError(f"status '{self.status}' without evidence")
        return self
