"""Describes the calls of the compile gate: what a task's reference would be given, and would return, without data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from kernelarena.errors import InputError, nearest
from kernelarena.judge.arena import dtype_name
from kernelarena.judge.reference import Reference
from kernelarena.protocol.compile import Arg, Call, CompileJob, TensorSpec
from kernelarena.protocol.draw import draw, visible_trials
from kernelarena.spec import Kernel, Platform, Shape, Task, TaskSource
from kernelarena.spec.task import Aspect

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
        calls=tuple(_call(reference, task.task, shape, platform) for shape in task.task.shapes()),
        ahead=tuple(_call(reference, task.task, shape, platform) for shape in shapes),
        framework=task.task.framework,
        in_place=position_in_place(task.task, reference.outline(task.task.shapes()[0], platform)[0]),
    )


def position_in_place(task: Task, names: Iterable[str]) -> int | None:
    """Return which of the arguments a task's operator changes; None where it makes new outputs.

    Raises
    ------
    InputError
        If it should change one that there is not.
    """
    if task.in_place is None:
        return None
    if task.in_place not in (arguments := list(names)):
        raise InputError(
            f"the task {task.id}: in_place: '{task.in_place}' is no input; {nearest(task.in_place, arguments)}"
        )
    return arguments.index(task.in_place)


def form_of(output: torch.Tensor, task: Task) -> TensorSpec:
    """Return what of an output's form a task asks for."""
    stride = tuple(output.stride()) if Aspect.STRIDES in task.contract else None
    return TensorSpec(dtype=dtype_name(output.dtype), size=tuple(output.shape), stride=stride)


def _call(reference: Reference, task: Task, shape: Shape, platform: Platform) -> Call:
    inputs, outputs = reference.outline(shape, platform)
    return Call(
        shape=shape,
        args=tuple(_argument(name, value) for name, value in inputs.items()),
        outputs=None if outputs is None else tuple(form_of(output, task) for output in outputs),
    )


def _argument(name: str, value: Any) -> Arg:
    if isinstance(value, bool | int | float):
        return Arg(name=name, value=value)
    return Arg(
        name=name, dtype=dtype_name(value.dtype), size=tuple(value.shape),
        stride=tuple(value.stride()), offset=int(value.storage_offset()),
    )  # fmt: skip
