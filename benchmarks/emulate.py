"""How fast kernels run that were built for a chip which is not here, and whether they are right.

Each kernel runs on one published and eight hidden shapes within the platform's emulation budget, in this process and
under the persona of the chip; the answers are held against the reference as the judge holds them. Printed are, for each
kernel, the trials that are right, the time by what it goes to, and wave-instructions; and for all of them
wave-instructions a second by the unit that they keep busy.

    python benchmarks/emulate.py [--platform mi300] [--hidden 8] [--tasks-dir DIR] [KERNEL …]
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kernelarena.judge.problems import Problem, Problems
from kernelarena.platforms import catalogue, emulator
from kernelarena.protocol.draw import draw, visible_trials
from kernelarena.protocol.entry import load_entry
from kernelarena.protocol.tolerance import compare
from kernelarena.spec import Kernel, Platform, Shape, TaskSource
from kernelarena.spec.catalogue import load_tasks, shipped_kernels
from kernelarena.spec.kernels import load_kernels

_SEED = 7
_TWELVE = (
    "add", "attention", "bmm", "cross_entropy", "cumsum", "fp8_quantise_rows", "gelu_tanh_and_mul", "layer_norm",
    "matmul", "rms_norm_residual", "rotary_embedding", "softmax",
)  # fmt: skip
"""The tasks that are measured where no kernel is named."""


class Meter:
    """Counts what launches come to, on their way to the emulator."""

    def __init__(self, launch: Callable[..., emulator.Tally] | None) -> None:
        self.launch = launch
        self.instructions: Counter[str] = Counter()
        self.by_unit: Counter[str] = Counter()
        self.seconds = 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> emulator.Tally:
        """Launch, and add up."""
        assert self.launch is not None
        tally = self.launch(*args, **kwargs, clocked=True)
        self.instructions += tally.instructions
        self.by_unit.update(tally.seconds_by_unit)
        self.seconds += tally.seconds
        return tally

    def add(self, other: Meter) -> None:
        """Add what another has counted."""
        self.instructions += other.instructions
        self.by_unit.update(other.by_unit)
        self.seconds += other.seconds


def shapes(task: TaskSource, platform: Platform, hidden: int) -> list[Shape]:
    """Return one published shape and some hidden ones, within the platform's budget."""
    budget = platform.budget
    return [*visible_trials(task.task, _SEED, budget=budget)[:1], *draw(task.task, _SEED, hidden, budget=budget)]


def tried(entry: Callable[..., Any], problem: Problem) -> str:
    """Call a kernel, and return what is wrong; nothing where it is right."""
    try:
        returned = entry(*problem.inputs.values())
    except emulator.Fault as fault:
        return str(fault)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
    outputs = [returned] if isinstance(returned, torch.Tensor) else list(returned)
    comparison = compare(problem.truth, outputs)
    return "" if comparison.reason is None else f"{comparison.reason}: {comparison.detail}"


@dataclass
class Result:
    """What became of a kernel."""

    line: str
    wrong: list[str]
    meter: Meter


def measured(kernel: Kernel, task: TaskSource, platform: Platform, hidden: int) -> Result:
    """Run a kernel on its shapes, in a process that has run no other."""
    from kernelarena.platforms.persona import execution, executor

    warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")  # of each process, in the midst of the table
    runs_launches = vars(executor)  # and does not say what they came to
    meter = runs_launches["launch"] = Meter(runs_launches["launch"])
    problems = Problems(platform)
    asked = [problems.problem(task, shape, _SEED + place) for place, shape in enumerate(shapes(task, platform, hidden))]
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for path, source in kernel.files.items():
            place = Path(folder, "kernel", path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(source)
        with execution(platform, Path(folder, "scratch")) as observer:
            for value in (value for one in asked for value in one.inputs.values()):
                if isinstance(value, torch.Tensor):
                    observer.ledger.enter(value, device=True)
            entry = load_entry(Path(folder, "kernel"), kernel.file, kernel.function)
            wrong = [(one.shape, said) for one in asked if (said := tried(entry, one))]
    seconds, count = time.perf_counter() - begun, meter.instructions.total()
    rate = f"{count / meter.seconds / 1000:6.0f} k/s" if meter.seconds else ""
    right = f"{len(asked) - len(wrong)}/{len(asked)}"
    line = f"{kernel.id:44} {right:>5}  {seconds:6.1f} s, emulating {meter.seconds:5.1f} s  {count:9,d} {rate}"
    meter.launch = None
    details = [f"    {dict(shape.dims)} {shape.dtype} {shape.layout}: {words}" for shape, words in wrong]
    return Result(line, details, meter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="folders of kernels; the twelve tasks' by default")
    parser.add_argument("--platform", default="mi300")
    parser.add_argument("--hidden", type=int, default=8, help="hidden shapes of each")
    parser.add_argument("--processes", type=int, default=2, help="kernels at a time")
    parser.add_argument("--tasks-dir", action="append", default=[], type=Path)
    options = parser.parse_args()
    tasks = load_tasks(options.tasks_dir)
    (platform,) = catalogue.resolve([options.platform], catalogue.load())
    kernels, _ = load_kernels(options.kernels or shipped_kernels(), tasks=set(tasks))
    chosen = [one for one in kernels if one.language == "triton" and (options.kernels or one.task in _TWELVE)]
    begun = time.perf_counter()
    total, right = Meter(None), 0
    with multiprocessing.get_context("fork").Pool(options.processes, maxtasksperchild=1) as pool:
        jobs = [pool.apply_async(measured, (one, tasks[one.task], platform, options.hidden)) for one in chosen]
        for job in jobs:
            result = job.get()
            print("\n".join([result.line, *result.wrong]), flush=True)
            right += not result.wrong
            total.add(result.meter)
    print(f"\n{right} of {len(chosen)} kernels right; {time.perf_counter() - begun:.1f} s in all")
    for unit, count in total.instructions.most_common():
        print(f"  {unit:8} {count:12,d} wave-instructions, {count / total.by_unit[unit] / 1000:8.1f} k/s")


if __name__ == "__main__":
    main()
