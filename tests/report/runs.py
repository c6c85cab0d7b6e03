"""Runs of other kinds than the one in ``conftest``: measured on chips, large, and hardly begun."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kernelarena.platforms import catalogue as platforms
from kernelarena.spec import (
    HIDDEN_FAMILIES,
    Efficiency,
    Environment,
    Evidence,
    Family,
    FamilyTally,
    Gate,
    Kernel,
    Language,
    Launch,
    Location,
    Manifest,
    Provenance,
    Reason,
    Resources,
    RunData,
    Shape,
    Speedup,
    Status,
    Sweep,
    Tally,
    Telemetry,
    TimedShape,
    Trial,
    Verdict,
)
from kernelarena.spec import catalogue as tasks

TASKS = ("softmax", "matmul", "layer_norm", "rms_norm_residual", "cumsum", "attention", "add", "cross_entropy")
HOMES = ("h100", "mi300")
SOURCE = (
    "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
    "def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    tl.store(y_ptr + at, tl.load(x_ptr + at))\n"
)
LOST = (
    (Gate.COMPILE, Reason.RESOURCE_EXCEEDED, "needs 160 KiB of shared memory per block; lower num_stages."),
    (Gate.COMPILE, Reason.UNSUPPORTED_FEATURE, "type fp8e4nv not supported in this architecture."),
    (Gate.CORRECTNESS, Reason.MISMATCH, "y[0, 1023] is 0.0, expected 0.0131; the last column is never stored."),
    (Gate.HIDDEN, Reason.MISMATCH, "y[3, 0] is 2.5, expected 0.5 on M=17 N=1021; the mask is missing."),
    (Gate.TIMING, Reason.FASTER_THAN_PHYSICS, "1.2 µs is less than the 4.1 µs that the chip needs to move the data."),
)


def measured(kernels: int = 24, chips: Sequence[str] = ("mi300", "h100", "h200"), seed: int = 1) -> RunData:
    """Kernels measured on chips, emulated on ``cpu`` and compiled for ``a100``, some of them failing."""
    return _run(kernels, (*chips, "a100", "cpu"), dict.fromkeys(chips, Evidence.MEASURED), seed)


def large(kernels: int = 200, count: int = 10) -> RunData:
    """As many kernels and platforms as one would look at on a page."""
    chips = tuple(name for name in platforms.load() if name != "cpu")[:count]
    return _run(kernels, chips, dict.fromkeys(chips[:4], Evidence.MEASURED), 2)


def smallest() -> RunData:
    """One kernel on one platform."""
    return _run(1, ("mi300",), {}, 6)


def _run(kernels: int, chips: Sequence[str], evidence: dict[str, Evidence], seed: int) -> RunData:
    known, rng = platforms.load(), random.Random(seed)
    every = [_kernel(at, rng) for at in range(kernels)]
    verdicts = [
        _verdict(kernel, chip, evidence.get(chip, Evidence.EMULATED if chip == "cpu" else Evidence.COMPILED), rng)
        for kernel in every
        for chip in chips
    ]
    manifest = Manifest(
        id="20261201-091500-c0de",
        created="2026-12-01T09:15:00+00:00",
        finished="2026-12-01T10:02:00+00:00",
        command=("kab-mc", "sweep", "--platforms", ",".join(chips)),
        sweep=Sweep(platforms=tuple(chips)),
        platforms=tuple(chips),
        kernels=tuple(kernel.id for kernel in every),
        hidden_seed=7,
        hidden_seed_sha256="ab" * 32,
        environment=Environment(versions={"torch": "2.13.0", "triton": "3.9.0"}, host="Linux 6.8, x86-64"),
    )
    return RunData(
        manifest=manifest,
        platforms={chip: known[chip] for chip in chips if chip in known},
        tasks=tasks.load_tasks(),
        kernels={kernel.id: kernel for kernel in every},
        verdicts=tuple(verdicts),
    )


def _kernel(at: int, rng: random.Random) -> Kernel:
    task = TASKS[at % len(TASKS)]
    return Kernel(
        id=f"{task.replace('_', '-')}-{at:03d}",
        task=task,
        language=Language.TRITON,
        file="kernel.py",
        function="kernel",
        home=rng.choice(HOMES),
        files={"kernel.py": f'"""Number {at}."""\n\n{SOURCE}'},
        origin=f"generated/{at:03d}",
        provenance=Provenance.model_validate(
            {
                "agent": "example",
                "model": "writer-1",
                "iterations": rng.randint(1, 8),
                "tokens": {"input": rng.randint(2_000, 9_000), "output": rng.randint(800, 4_000)},
            }
        ),
    )


def _verdict(kernel: Kernel, chip: str, evidence: Evidence, rng: random.Random) -> Verdict:
    away = kernel.home != chip
    needs = Resources(
        threads_per_block=256,
        warps=8,
        stages=2,
        shared_memory=rng.choice((0, 1024, 16384, 49152)),
        registers=rng.randint(24, 250),
        spills=rng.choice((0, 0, 0, 0, 12)),
        scratch=0,
        occupancy=rng.choice((0.125, 0.25, 0.5, 0.75, 1.0)),
        limited_by="registers",
    )
    hidden = (
        {family: Tally(passed=1, total=1) for family in HIDDEN_FAMILIES} if evidence is not Evidence.COMPILED else {}
    )
    fields: dict[str, object] = {
        "task": kernel.task,
        "kernel": kernel.id,
        "language": kernel.language,
        "home": kernel.home,
        "platform": chip,
        "evidence": evidence,
        "status": Status.PASS,
        "gate": Gate.HIDDEN if hidden else Gate.COMPILE,
        "visible": Tally(passed=18, total=18),
        "hidden": FamilyTally(passed=len(hidden), total=len(hidden), by_family=hidden),
        "resources": needs,
        "launches": (Launch(kernel="kernel", signature="x_ptr: *fp16, n: i32", grid=(64,), count=18, resources=needs),),
        "toolchain": "triton 3.9.0",
        "duration_s": 2.0,
    }
    if rng.random() < (0.3 if away else 0.1):
        fields |= _lost(evidence, rng)
    elif evidence is Evidence.MEASURED:
        fields |= _timed(away, rng)
    return Verdict.model_validate(fields)


def _lost(evidence: Evidence, rng: random.Random) -> dict[str, object]:
    possible = LOST[:2] if evidence is Evidence.COMPILED else LOST if evidence is Evidence.MEASURED else LOST[:4]
    gate, reason, detail = rng.choice(possible)
    shape = Shape(dims={"M": 17, "N": 1021}, dtype="float16", family=Family.ALIGNMENT)
    hidden = {family: Tally(passed=int(family is not Family.ALIGNMENT), total=1) for family in HIDDEN_FAMILIES}
    late = gate is Gate.HIDDEN
    return {
        "status": Status.FAIL,
        "gate": gate,
        "reason": reason,
        "detail": detail,
        "visible": Tally(passed=0 if gate in (Gate.COMPILE, Gate.CORRECTNESS) else 18, total=18),
        "hidden": FamilyTally(passed=5, total=6, by_family=hidden) if late else FamilyTally(),
        "location": Location(file="kernel.py", line=11, text="    tl.store(y_ptr + at, tl.load(x_ptr + at))"),
        "trials": (Trial(shape=shape, passed=False, reason=reason, detail=detail, error=31.0),) if late else (),
        "log": "kernel.py:11: the compiler’s own words\n" if gate is Gate.COMPILE else "",
    }


def _timed(away: bool, rng: random.Random) -> dict[str, object]:
    ratio = rng.lognormvariate(-0.1 if away else 0.35, 0.35)
    share = min(0.97, max(0.03, rng.gauss(0.45 if away else 0.7, 0.15)))
    speedup = Speedup(median=ratio, ci=(ratio * 0.98, ratio * 1.02), baseline="torch eager")
    shapes = [Shape(dims={"M": 1024 << at, "N": 4096}, dtype="float16") for at in range(3)]
    return {
        "speedup": speedup,
        "efficiency": Efficiency(architectural=share),
        "telemetry": Telemetry(
            power=rng.gauss(540, 40),
            energy=rng.lognormvariate(-3, 1),
            clock=rng.gauss(1900, 30),
            memory_clock=2600.0,
            temperature=rng.gauss(55, 4),
        ),
        "timings": tuple(
            TimedShape(
                shape=shape,
                kernel=4e-5 / ratio,
                baseline=4e-5,
                speedup=speedup,
                claim="faster" if ratio > 1.02 else "slower" if ratio < 0.98 else "none",
                noise=0.01,
                samples=120,
                efficiency=share,
            )
            for shape in shapes
        ),
    }
