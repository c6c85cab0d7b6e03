"""The shipped tasks, their references as functions, and small shapes on which to try them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from kernelarena.protocol import sizes
from kernelarena.protocol.draw import fit
from kernelarena.protocol.sampler import Sampler
from kernelarena.spec import Distribution, Layout, Shape, Task, paths
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.platform import Budget
from tests.shard import shard

TASKS = {name: source for name, source in load_tasks().items() if source.origin.startswith(str(paths.shipped("tasks")))}

_SPECIAL = {
    "attention": {"B": 2, "H": 3, "S": 7, "D": 64},
    "cross_entropy": {"N": 15, "V": 12},  # every seventh row is ignored
    "im2col": {"K": 2, "D": 1, "P": 1, "S": 1, "B": 2, "C": 3, "H": 7, "W": 9},
    "moe_align_block_size": {"T": 100, "K": 8, "E": 32, "P": 16},  # experts of many blocks and of few
    "reshape_and_cache": {"T": 15, "N": 1, "P": 16, "G": 3, "D": 4},  # most of the cache is written
    "select_backward": {"M": 5, "S": 2, "N": 7},  # half of the output is no zero
    "rotary_embedding": {"T": 5, "H": 4, "G": 2, "D": 6},
}
_SIZES = (5, 12, 7, 3, 4, 2)


def _small(task: Task) -> dict[str, int]:
    """Return a small shape in which no two sizes are equal, as far as the task has one."""
    dims = _SPECIAL.get(task.id) or {
        name: sizes.at_most(dim, size) for (name, dim), size in zip(task.dims.items(), _SIZES, strict=False)
    }
    return dims if task.why_not(dims) is None else fit(task, task.visible[0], task.dtypes[0], _TINY)


_TINY = Budget(elements=512, flops=100_000)
SMALL = {name: _small(source.task) for name, source in TASKS.items()}
"""One small shape for each task."""


@dataclass(frozen=True)
class Operator:
    """A task with its reference in hand."""

    task: Task
    inputs: Callable[..., dict[str, Any]]
    reference: Callable[..., Any]

    def draw(
        self,
        dtype: str,
        *,
        seed: int = 0,
        dims: dict[str, int] | None = None,
        distribution: Distribution = Distribution.NORMAL,
        layout: Layout = Layout.CONTIGUOUS,
        **sampler: Any,
    ) -> dict[str, Any]:
        shape = Shape(dims=dims or SMALL[self.task.id], dtype=dtype, distribution=distribution, layout=layout)
        return self.inputs(shape, Sampler(shape, seed, **sampler))

    def compute(self, inputs: dict[str, Any]) -> tuple[torch.Tensor, ...]:
        outputs = self.reference(**inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)


def operator(name: str) -> Operator:
    source = TASKS[name]
    namespace: dict[str, Any] = {}
    exec(compile(source.reference, source.where, "exec"), namespace)
    return Operator(source.task, namespace["inputs"], namespace["reference"])


def in_float64(inputs: dict[str, Any]) -> dict[str, Any]:
    """Widen as the truth does: floating-point tensors that hold something."""
    return {
        name: value.double()
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel()
        else value
        for name, value in inputs.items()
    }


@pytest.fixture(params=shard(TASKS))
def op(request: pytest.FixtureRequest) -> Operator:
    """Each of today's share of the shipped tasks."""
    return operator(request.param)
