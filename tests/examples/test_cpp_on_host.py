"""What the kernels of ``examples/cpp`` compute, on the published and the hidden shapes of their tasks made small.

Their own source runs on the host, as on chips with warps of 32 lanes and of 64, against the reference and the tolerance
that decide on a chip.
"""

from __future__ import annotations

import shutil

import pytest

from kernelarena.judge.problems import Problems, trial_seed
from kernelarena.platforms.toolchains.cpp.entry import signature
from kernelarena.protocol.draw import draw, visible_trials
from kernelarena.protocol.tolerance import compare
from kernelarena.spec.platform import Budget
from tests.examples.test_cpp import CHIPS, KERNELS, TASKS
from tests.on_host import COMPILER, OnHost

BUDGET = Budget(elements=16384, flops=2_000_000, outer=16)
SEED = 5
HIDDEN = 8


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if shutil.which(COMPILER) is None:
        pytest.skip(f"needs {COMPILER}")
    known = {}

    def build(kernel, problem):
        if kernel.id not in known:
            inputs = [(name, value if isinstance(value, bool | int | float) else None)
                      for name, value in problem.inputs.items()]  # fmt: skip
            wanted = signature(kernel.function, inputs, len(problem.truth.outputs))
            known[kernel.id] = OnHost(kernel, wanted, tmp_path_factory.mktemp(kernel.id))
        return known[kernel.id]

    return build


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.id)
def test_is_right(built, kernel):
    """The two chips take turns: they differ in how wide a warp is, and in their float8."""
    task = TASKS[kernel.task]
    venues = [Problems(CHIPS[chip]) for chip in ("mi300", "h100")]
    shapes = visible_trials(task.task, trial_seed(SEED, kernel.task, "visible", 0), budget=BUDGET)
    shapes += draw(task.task, trial_seed(SEED, kernel.task, "hidden", 0), HIDDEN, budget=BUDGET)
    for index, shape in enumerate(shapes):
        problems = venues[index % len(venues)]
        problem = problems.problem(task, shape, index)
        forms = [(output.size, output.dtype) for output in problem.truth.outputs]
        lanes = problems.platform.limits.warp_size
        verdict = compare(problem.truth, built(kernel, problem).call(list(problem.inputs.values()), forms, lanes))
        assert verdict.passed, f"{problems.platform.id}: {shape}: {verdict.detail}"
