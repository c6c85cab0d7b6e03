"""The closed vocabularies of a verdict: status, gate, evidence, reason, and the words that describe a shape."""

from __future__ import annotations

from kernelarena.spec.base import StrEnum


class Status(StrEnum):
    """How a cell ended."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    INFRA = "infra"


class Gate(StrEnum):
    """A stage of the protocol, in the order in which they run."""

    COMPILE = "compile"
    CORRECTNESS = "correctness"
    TIMING = "timing"
    HIDDEN = "hidden"


class Evidence(StrEnum):
    """How a verdict is known, the strongest first. Never averaged across."""

    MEASURED = "measured"
    """Ran on that chip."""
    EMULATED = "emulated"
    """Ran elsewhere under that platform's rules."""
    COMPILED = "compiled"
    """Built for that chip and held against its limits; never run."""


class Family(StrEnum):
    """Where a shape comes from: published with the task, or one of the ways in which hidden ones are drawn."""

    VISIBLE = "visible"
    EDGE = "edge"
    SCALE_UP = "scale-up"
    SCALE_DOWN = "scale-down"
    ALIGNMENT = "alignment"
    ASYMMETRIC = "asymmetric"
    PRODUCTION = "production"


HIDDEN_FAMILIES = tuple(family for family in Family if family is not Family.VISIBLE)


class Distribution(StrEnum):
    """How the floating-point inputs of a trial are distributed."""

    NORMAL = "normal"
    UNIFORM = "uniform"
    LARGE = "large"
    TINY = "tiny"
    CONSTANT_ROWS = "constant-rows"
    SIGNED_ZEROS = "signed-zeros"
    SPECIALS = "specials"


class Layout(StrEnum):
    """How the inputs of a trial lie in memory."""

    CONTIGUOUS = "contiguous"
    STRIDED = "strided"
    """The innermost dimension keeps stride 1; the next one is padded."""
    OFFSET = "offset"
    """Contiguous, but starting one element into its storage, so that the pointer is misaligned."""


class ReasonGroup(StrEnum):
    """What kind of fault a reason names."""

    COMPILE = "compile"
    RUN = "run"
    CORRECTNESS = "correctness"
    INTEGRITY = "integrity"
    INFRA = "infra"


class Reason(StrEnum):
    """Why a cell did not pass. Every failure has exactly one."""

    SYNTAX_ERROR = "syntax-error"
    IMPORT_ERROR = "import-error"
    COMPILE_ERROR = "compile-error"
    UNSUPPORTED_FEATURE = "unsupported-feature"
    RESOURCE_EXCEEDED = "resource-exceeded"
    COMPILE_TIMEOUT = "compile-timeout"
    NO_DEVICE_KERNEL = "no-device-kernel"
    FRAMEWORK_FALLBACK = "framework-fallback"

    LAUNCH_ERROR = "launch-error"
    ILLEGAL_ACCESS = "illegal-access"
    CRASH = "crash"
    TIMEOUT = "timeout"
    UNINITIALISED_READ = "uninitialised-read"
    DATA_RACE = "data-race"
    DIVERGENT_BARRIER = "divergent-barrier"
    MISSING_WAIT = "missing-wait"
    OUT_OF_MEMORY = "out-of-memory"

    WRONG_SHAPE = "wrong-shape"
    WRONG_DTYPE = "wrong-dtype"
    MISMATCH = "mismatch"
    REDUCED_PRECISION = "reduced-precision"
    NON_FINITE = "non-finite"
    NONDETERMINISTIC = "nondeterministic"
    INPUT_MUTATED = "input-mutated"
    OUT_OF_BOUNDS_WRITE = "out-of-bounds-write"
    UNWRITTEN_OUTPUT = "unwritten-output"

    TIMER_TAMPERING = "timer-tampering"
    CACHED_RESULT = "cached-result"
    DEFERRED_WORK = "deferred-work"
    FASTER_THAN_PHYSICS = "faster-than-physics"
    JUDGE_TAMPERING = "judge-tampering"
    OFF_STREAM_WORK = "off-stream-work"

    WORKER_LOST = "worker-lost"
    DEVICE_UNAVAILABLE = "device-unavailable"
    DEVICE_UNHEALTHY = "device-unhealthy"
    TOOLCHAIN_MISSING = "toolchain-missing"
    EMULATOR_UNSUPPORTED = "emulator-unsupported"
    INTERRUPTED = "interrupted"

    @property
    def group(self) -> ReasonGroup:
        """The kind of fault that this reason belongs to."""
        return _GROUP_OF[self]


_GROUPS: dict[ReasonGroup, tuple[Reason, Reason]] = {  # first and last member, in declaration order
    ReasonGroup.COMPILE: (Reason.SYNTAX_ERROR, Reason.FRAMEWORK_FALLBACK),
    ReasonGroup.RUN: (Reason.LAUNCH_ERROR, Reason.OUT_OF_MEMORY),
    ReasonGroup.CORRECTNESS: (Reason.WRONG_SHAPE, Reason.UNWRITTEN_OUTPUT),
    ReasonGroup.INTEGRITY: (Reason.TIMER_TAMPERING, Reason.OFF_STREAM_WORK),
    ReasonGroup.INFRA: (Reason.WORKER_LOST, Reason.INTERRUPTED),
}
_ORDER = list(Reason)
_GROUP_OF = {
    reason: group
    for group, (first, last) in _GROUPS.items()
    for reason in _ORDER[_ORDER.index(first) : _ORDER.index(last) + 1]
}
