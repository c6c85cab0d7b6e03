"""Run the shipped kernels in Triton's interpreter.

A program of its own, because the interpreter is chosen before Triton is imported:
``TRITON_INTERPRET=1 python -m tests.tasks.interpret SCRATCH`` prints one JSON line for each trial.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from torch import Tensor

from kernelarena.platforms import catalogue
from kernelarena.platforms.persona import emulation
from kernelarena.protocol import distribution
from kernelarena.protocol.draw import draw
from kernelarena.protocol.entry import load_entry
from kernelarena.protocol.sampler import Sampler
from kernelarena.protocol.tolerance import Comparison, compare
from kernelarena.protocol.truth import truth
from kernelarena.spec import Kernel, Shape, Task
from kernelarena.spec.catalogue import kernels_of
from kernelarena.spec.kernels import load_kernels
from kernelarena.spec.platform import Budget
from kernelarena.spec.task import Aspect
from tests.shard import shard
from tests.tasks.conftest import TASKS, Operator, operator

AWKWARD: dict[str, list[tuple[int, ...]]] = {
    "add": [(1, 1), (7, 1031), (129, 17), (33, 9), (257, 5)],
    "gelu_tanh_and_mul": [(1, 1), (3, 1031), (131, 17), (33, 9), (257, 5)],
    "softmax": [(1, 1), (3, 4099), (17, 257), (37, 15), (5, 1024)],
    "layer_norm": [(1, 1), (3, 2053), (17, 130), (300, 7), (5, 512)],
    "rms_norm_residual": [(1, 1), (3, 2053), (17, 130), (300, 7), (5, 512)],
    "cross_entropy": [(1, 2), (3, 4099), (17, 257), (300, 13), (7, 1024)],
    "matmul": [(1, 1, 1), (37, 131, 67), (16, 16, 1000), (129, 127, 33), (17, 257, 1)],
    "bmm": [(1, 1, 1, 1), (3, 37, 131, 67), (7, 16, 16, 100), (2, 129, 1, 33), (2, 1, 127, 5)],
    "rotary_embedding": [(1, 1, 1, 2), (7, 5, 3, 66), (9, 3, 1, 256), (67, 4, 4, 6), (3, 7, 2, 128)],
    "attention": [(1, 1, 1, 64), (2, 3, 67, 64), (1, 2, 129, 128), (1, 5, 33, 64), (3, 1, 31, 128)],
    "cumsum": [(1, 1), (3, 2053), (17, 130), (300, 7), (5, 512)],
    "gather": [(1, 1, 1), (3, 300, 1031), (129, 40, 17), (33, 2, 9), (2, 4099, 5)],
    "fp8_quantise_rows": [(1, 1), (3, 4099), (17, 257), (37, 15), (5, 1024)],
}
"""Sizes in the order of the dims: ones, primes, one beyond a tile, rows longer than any tile."""
DRAWN = 3
"""Shapes at least of the tasks that are not among these, of the kinds that hidden ones are of."""
_SMALL = Budget(elements=1024, flops=1_000_000)


def awkward(task: Task) -> list[dict[str, int]]:
    """Return dims on which to try a task."""
    if task.id in AWKWARD:
        return [dict(zip(task.dims, sizes, strict=True)) for sizes in AWKWARD[task.id]]
    count = max(DRAWN, len(task.dtypes))
    return [shape.dims for shape in draw(task, 0, count, budget=_SMALL)]


def shapes(task: Task) -> Iterator[Shape]:
    """Every size, with dtypes, distributions and layouts taking turns at different paces."""
    distributions, layouts = cycle(task.distributions), cycle(task.layouts)
    for turn, dims in enumerate(awkward(task)):
        problem = task.why_not(dims)
        assert problem is None, f"{task.id} {dims}: {problem}"
        for which in range(2 if task.id in AWKWARD else 1):
            dtype = task.dtypes[(turn + which) % len(task.dtypes)]
            yield Shape(dims=dims, dtype=dtype, distribution=next(distributions), layout=next(layouts))


PLATFORMS = catalogue.load()


def checker(op: Operator, inputs: dict[str, Any]) -> Callable[[tuple[Tensor, ...]], Comparison]:
    """Return what holds an answer against the task, made before a kernel may have changed the inputs."""
    if op.task.law is not None:
        return partial(distribution.compare, op.task.law, inputs)
    if Aspect.VALUES in op.task.contract:
        return partial(compare, truth(op.reference, inputs, seed=0))
    strides = [output.stride() for output in op.compute(inputs)]
    return lambda returned: Comparison(passed=[output.stride() for output in returned] == strides)


def trial(kernel: Kernel, shape: Shape, folder: Path, scratch: Path, flavour: str) -> dict[str, Any]:
    """Run one kernel on one shape and hold it against its reference."""
    op = operator(kernel.task)
    inputs = op.inputs(shape, Sampler(shape, 0, dtypes=PLATFORMS[flavour].dtype))
    check = checker(op, inputs)
    with emulation(PLATFORMS["cpu"], scratch):
        outputs = load_entry(folder, kernel.file, kernel.function)(*inputs.values())
    found = check(outputs if isinstance(outputs, tuple) else (outputs,))
    return {
        "kernel": kernel.id,
        "shape": f"{shape} of {flavour}",
        "passed": found.passed,
        "detail": f"{found.reason}: {found.detail}",
        "error": found.error,
    }


def main(scratch: Path) -> None:
    """Run every trial of every shipped kernel."""
    for task in map(TASKS.__getitem__, shard(TASKS)):
        if not (places := kernels_of(task)):
            continue
        kernels, _ = load_kernels(places, tasks=set(TASKS))
        for kernel in kernels:
            folder = Path(kernel.origin)
            flavours = ("h100", "mi300") if "float8" in task.task.signature else ("h100",)
            for flavour in flavours:
                for shape in shapes(task.task):
                    print(json.dumps(trial(kernel, shape, folder, scratch, flavour)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
