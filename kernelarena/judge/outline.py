"""Describes the calls of the compile gate: what a task's reference would be given, and would return, without data."""

from __future__ import annotations

from typing import Any

from kernelarena.judge.arena import dtype_name
from kernelarena.judge.reference import Reference
from kernelarena.protocol.compile import Arg, Call, CompileJob, TensorSpec
from kernelarena.protocol.draw import draw, visible_trials
from kernelarena.spec import Kernel, Platform, Shape, TaskSource

_ANY = 0
"""A seed that everybody may know: it draws shapes of the kinds that hidden ones are of, and not those."""
_LIKE_HIDDEN = 24
"""Of those: of each kind, in each dtype, more often than not."""


def compile_job(kernel: Kernel, task: TaskSource, platform: Platform, *, ahead: bool = False) -> CompileJob:
    """Describe every call that the compile gate makes: sizes, strides and dtypes, and no data.

    Parameters
    ----------
    kernel, task, platform
        What is compiled, for what, where.
    ahead
        Whether the kernel will be run: with shapes that are laid out otherwise than the published ones, or are no
        multiples of anything, for each of which compilers build something else.
    """
    reference = Reference(task)
    shapes = []
    if ahead:
        shapes = [*visible_trials(task.task, _ANY), *draw(task.task, _ANY, _LIKE_HIDDEN)]
    return CompileJob(
        kernel=kernel,
        platform=platform,
        calls=tuple(_call(reference, shape, platform) for shape in task.task.shapes()),
        ahead=tuple(_call(reference, shape, platform) for shape in shapes),
        framework=task.task.framework,
    )


def _call(reference: Reference, shape: Shape, platform: Platform) -> Call:
    inputs, outputs = reference.outline(shape, platform)
    return Call(
        shape=shape,
        args=tuple(_argument(name, value) for name, value in inputs.items()),
        outputs=None if outputs is None else tuple(_output(output) for output in outputs),
    )


def _argument(name: str, value: Any) -> Arg:
    if isinstance(value, bool | int | float):
        return Arg(name=name, value=value)
    return Arg(
        name=name, dtype=dtype_name(value.dtype), size=tuple(value.shape),
        stride=tuple(value.stride()), offset=int(value.storage_offset()),
    )  # fmt: skip


def _output(output: Any) -> TensorSpec:
    return TensorSpec(dtype=dtype_name(output.dtype), size=tuple(output.shape))
