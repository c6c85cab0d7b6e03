"""The shipped tasks, their references as functions, and small shapes on which to try them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from kernelarena.protocol.sampler import Sampler
from kernelarena.spec import Distribution, Layout, Shape, Task, paths
from kernelarena.spec.catalogue import load_tasks

TASKS = {name: source for name, source in load_tasks().items() if source.origin.startswith(str(paths.shipped("tasks")))}

SMALL = {
    "add": {"M": 5, "N": 12},
    "gelu_tanh_and_mul": {"T": 5, "D": 12},
    "softmax": {"M": 5, "N": 12},
    "layer_norm": {"M": 5, "N": 12},
    "rms_norm_residual": {"T": 5, "D": 12},
    "cross_entropy": {"N": 15, "V": 12},
    "matmul": {"M": 5, "N": 12, "K": 7},
    "bmm": {"B": 3, "M": 5, "N": 12, "K": 7},
    "rotary_embedding": {"T": 5, "H": 4, "G": 2, "D": 6},
    "attention": {"B": 2, "H": 3, "S": 7, "D": 64},
    "cumsum": {"M": 5, "N": 12},
    "fp8_quantise_rows": {"M": 5, "N": 12},
}
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
    exec(compile(source.reference, f"{source.origin}/reference.py", "exec"), namespace)
    return Operator(source.task, namespace["inputs"], namespace["reference"])


def in_float64(inputs: dict[str, Any]) -> dict[str, Any]:
    """Widen as the truth does: floating-point tensors that hold something."""
    return {
        name: value.double()
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel()
        else value
        for name, value in inputs.items()
    }


@pytest.fixture(params=sorted(TASKS))
def op(request: pytest.FixtureRequest) -> Operator:
    """Each shipped task in turn."""
    return operator(request.param)
