"""How long reports and comparisons of large runs take, and how much memory.

    python benchmarks/report_scale.py [--kernels 2000] [--platforms 10] [--shapes 50]

Writes two runs of that size into a temporary folder (by default 20,000 cells with 50 shapes each, a million results),
then reports the one and compares both, each in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from kernelarena.platforms import catalogue as platforms
from kernelarena.spec import (
    Environment,
    Evidence,
    Gate,
    Kernel,
    Language,
    Launch,
    Manifest,
    Reason,
    Resources,
    Shape,
    Speedup,
    Status,
    Sweep,
    Tally,
    TimedShape,
    Trial,
    Verdict,
)
from kernelarena.spec import catalogue as tasks
from kernelarena.store import Run

TASK = "softmax"
_SHARE_FAILING, _SHARE_SLOWER = 0.1, 0.02
_SOURCE = "def softmax(x):\n    return x\n" * 40


def verdict(kernel: str, platform: str, shapes: int, rng: np.random.Generator, slower: bool) -> Verdict:
    """Return a cell with as many trials as shapes, half of them timed."""
    every = [Shape(dims={"M": number + 1, "N": 4096}, dtype="float16") for number in range(shapes)]
    failing = rng.random() < _SHARE_FAILING
    trials = tuple(Trial(shape=shape, passed=True, error=0.2, seconds=0.01) for shape in every)
    needs = Resources(
        threads_per_block=256, warps=8, stages=2, shared_memory=16384, registers=64, spills=0, occupancy=0.5
    )
    fields: dict[str, object] = {"status": Status.PASS, "gate": Gate.HIDDEN}
    if failing:
        fields = {"status": Status.FAIL, "gate": Gate.CORRECTNESS, "reason": Reason.MISMATCH, "detail": "off by 3"}
    ratio = 1.2 * np.exp(rng.normal(0, 0.004, shapes)) / (1.2 if slower else 1.0)
    timings = tuple(
        TimedShape(
            shape=shape,
            kernel=5e-5 / value,
            baseline=5e-5,
            speedup=Speedup(median=value, ci=(value * 0.99, value * 1.01), baseline="eager"),
            noise=0.01,
            samples=100,
        )
        for shape, value in list(zip(every, ratio.tolist(), strict=True))[: shapes // 2]
    )
    return Verdict.model_validate(
        {
            "task": TASK,
            "kernel": kernel,
            "language": Language.TRITON,
            "home": "h100",
            "platform": platform,
            "evidence": Evidence.MEASURED,
            "visible": Tally(passed=shapes, total=shapes),
            "trials": trials,
            "timings": () if failing else timings,
            "speedup": None if failing else Speedup(median=1.2, ci=(1.19, 1.21), baseline="eager"),
            "resources": needs,
            "launches": (Launch(kernel="f", signature="x: *fp16", grid=(1,), count=shapes, resources=needs),),
            "toolchain": "triton 3.9.0",
            **fields,
        }
    )


def store(folder: Path, kernels: int, chips: list[str], shapes: int, seed: int) -> None:
    """Write a run of that size."""
    rng = np.random.default_rng(seed)
    known = platforms.load()
    names = [f"softmax-{number:05d}" for number in range(kernels)]
    manifest = Manifest(
        id=folder.name,
        created="2026-11-30T14:25:30+00:00",
        finished="2026-11-30T16:25:30+00:00",
        sweep=Sweep(),
        platforms=tuple(chips),
        kernels=tuple(names),
        environment=Environment(versions={"torch": "2.13.0"}),
    )
    every = [
        Kernel(
            id=name,
            task=TASK,
            language=Language.TRITON,
            file="k.py",
            function="softmax",
            files={"k.py": _SOURCE},
            origin=name,
        )
        for name in names
    ]
    with Run.create(
        folder, manifest, {chip: known[chip] for chip in chips}, {TASK: tasks.load_tasks()[TASK]}, every
    ) as run:
        for name in names:
            for chip in chips:
                slower = seed > 0 and rng.random() < _SHARE_SLOWER
                run.record(verdict(name, chip, shapes, rng, slower))


def timed(*arguments: str) -> tuple[float, float, float]:
    """Run ``kab-mc`` and return seconds, those of them that it computed, and GiB at its peak."""
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "kernelarena.cli", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"kab-mc {' '.join(arguments)} ended with {process.returncode}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=2000)
    parser.add_argument("--platforms", type=int, default=10)
    parser.add_argument("--shapes", type=int, default=50)
    given = parser.parse_args()
    chips = [name for name in sorted(platforms.load()) if name != "cpu"][: given.platforms]
    with tempfile.TemporaryDirectory() as folder:
        base, new = Path(folder, "base"), Path(folder, "new")
        for seed, place in enumerate((base, new)):
            store(place, given.kernels, chips, given.shapes, seed)
        cells = given.kernels * len(chips)
        print(f"{cells:,} cells × {given.shapes} shapes = {cells * given.shapes:,} results")
        jobs = {
            "report": ("report", str(base)),
            "report --format junit": ("report", str(base), "--format", "junit"),
            "compare": ("compare", str(base), str(new), "--output", str(Path(folder, "comparison.html"))),
        }
        for name, arguments in jobs.items():
            seconds, computed, peak = timed(*arguments)
            print(f"{name:<22} {seconds:6.1f} s ({computed:.1f} s of CPU)  {peak:5.2f} GiB")
        for path in (*base.glob("report.*"), Path(folder, "comparison.html")):
            print(f"{path.name:<22} {path.stat().st_size / 2**20:6.1f} MiB")


if __name__ == "__main__":
    main()
