"""Two runs written by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kernelarena.spec import (
    Environment,
    Evidence,
    Kernel,
    Language,
    Launch,
    Manifest,
    Resources,
    RunData,
    Shape,
    Speedup,
    Sweep,
    TimedShape,
    Verdict,
)
from tests.metrics.conftest import cell


def run(verdicts: Sequence[Verdict], *, source: str = "", versions: dict[str, str] | None = None, **fields) -> RunData:
    kernels = dict.fromkeys(verdict.kernel for verdict in verdicts)
    return RunData(
        manifest=Manifest.model_validate(
            {
                "id": "run",
                "created": "2026-11-30T14:25:30+00:00",
                "sweep": Sweep(),
                "platforms": tuple(dict.fromkeys(verdict.platform for verdict in verdicts)),
                "kernels": tuple(kernels),
                "hidden_seed_sha256": "0" * 64,
                "environment": Environment(versions={"torch": "2.13.0", "triton": "3.9.0"} | (versions or {})),
                **fields,
            }
        ),
        platforms={},
        tasks={},
        kernels={id: kernel(id, source) for id in kernels},
        verdicts=tuple(verdicts),
    )


def kernel(id: str, source: str) -> Kernel:
    return Kernel(
        id=id, task="softmax", language=Language.TRITON, file="k.py", function="k", files={"k.py": source}, origin=id
    )


def launch(function: str = "f", signature: str = "x: *fp16", *, reason=None, tuning: bool = False, **figures) -> Launch:
    needs = {"threads_per_block": 256, "warps": 8, "stages": 2, "shared_memory": 1024, "registers": 32, "spills": 0}
    return Launch(
        kernel=function,
        signature=signature,
        grid=(1,),
        resources=Resources.model_validate({**needs, "scratch": 0, "occupancy": 0.5, **figures}),
        reason=reason,
        tuning=tuning,
    )


def timed(m: int, speedup: float, width: float = 0.005, *, seconds: float = 1e-4, noise: float = 0.01) -> TimedShape:
    return TimedShape(
        shape=Shape(dims={"M": m}, dtype="float16"),
        kernel=seconds / speedup,
        baseline=seconds,
        speedup=Speedup(median=speedup, ci=(speedup / (1 + width), speedup * (1 + width)), baseline="eager"),
        noise=noise,
    )


def measured(kernel: str, platform: str, *timings: TimedShape, **fields) -> Verdict:
    return cell(kernel, platform, evidence=Evidence.MEASURED, timings=timings, **fields)


@pytest.fixture(name="run", scope="session")
def _run():
    return run
