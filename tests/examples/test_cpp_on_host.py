"""What the kernels of ``examples/cpp`` compute, on the published and the hidden shapes of their tasks made small.

Their own source runs on the host, as on chips with warps of 32 lanes and of 64, against the reference and the tolerance
that decide on a chip.
"""

from __future__ import annotations

import math
import shutil

import pytest
import torch

from kernelarena.judge.problems import Problems, trial_seed
from kernelarena.protocol.draw import draw, visible_trials
from kernelarena.protocol.tolerance import compare
from kernelarena.spec.platform import Budget
from tests.examples.test_cpp import CHIPS, KERNELS, TASKS
from tests.on_host import COMPILER, OnHost

BUDGET = Budget(elements=16384, flops=2_000_000, outer=8)
SEED = 5
HIDDEN = 8


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.id)
def test_is_right(kernel, tmp_path):
    """The two chips take turns: they differ in how wide a warp is, and in their float8."""
    if shutil.which(COMPILER) is None:
        pytest.skip(f"needs {COMPILER}")
    task = TASKS[kernel.task]
    venues = [Problems(CHIPS[chip]) for chip in ("mi300", "h100")]
    shapes = visible_trials(task.task, trial_seed(SEED, kernel.task, "visible", 0), budget=BUDGET)
    shapes += draw(task.task, trial_seed(SEED, kernel.task, "hidden", 0), HIDDEN, budget=BUDGET)
    built = OnHost(kernel, venues[0].problem(task, shapes[0], 0), tmp_path)
    for index, shape in enumerate(shapes):
        problems = venues[index % len(venues)]
        problem = problems.problem(task, shape, index)
        if index % 5 == 0:
            problem = problems.posed(task, shape, with_specials(problem.inputs), index)
        verdict = compare(problem.truth, built.answer(problem, problems.platform.limits.warp_size))
        assert verdict.passed, f"{problems.platform.id}: {shape}: {verdict.detail}"


def with_specials(inputs):
    """Return the same inputs with an infinity or a nan in each of the first rows."""
    changed = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}
    for value in changed.values():
        if isinstance(value, torch.Tensor) and value.dim() == 2:
            value[:1, :1], value[1:2, -1:], value[2:3, -1:] = math.inf, math.nan, -math.inf
    return changed
