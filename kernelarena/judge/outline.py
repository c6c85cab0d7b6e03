"""Describes the calls of the compile gate: what a task's reference would be given, and would return, without data."""

from __future__ import annotations

from typing import Any

from kernelarena.judge.arena import dtype_name
from kernelarena.judge.reference import Reference
from kernelarena.protocol.compile import Arg, Call, CompileJob, TensorSpec
from kernelarena.spec import Kernel, Platform, TaskSource


def compile_job(kernel: Kernel, task: TaskSource, platform: Platform) -> CompileJob:
    """Describe every call that the compile gate makes: sizes, strides and dtypes, and no data."""
    reference = Reference(task)
    calls = []
    for shape in task.task.shapes():
        inputs, outputs = reference.outline(shape, platform)
        calls.append(
            Call(
                shape=shape,
                args=tuple(_argument(name, value) for name, value in inputs.items()),
                outputs=None if outputs is None else tuple(_output(output) for output in outputs),
            )
        )
    return CompileJob(kernel=kernel, platform=platform, calls=tuple(calls), framework=task.task.framework)


def _argument(name: str, value: Any) -> Arg:
    if isinstance(value, bool | int | float):
        return Arg(name=name, value=value)
    return Arg(
        name=name, dtype=dtype_name(value.dtype), size=tuple(value.shape),
        stride=tuple(value.stride()), offset=int(value.storage_offset()),
    )  # fmt: skip


def _output(output: Any) -> TensorSpec:
    return TensorSpec(dtype=dtype_name(output.dtype), size=tuple(output.shape))
