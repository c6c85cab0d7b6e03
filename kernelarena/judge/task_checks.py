"""What a task must be before its checker can mean anything: drawn from the seed, a function of its inputs, and finite.

Each check yields problems as sentences; those about single trials take what was drawn for one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from kernelarena.errors import InputError
from kernelarena.judge.arena import dtype_name
from kernelarena.judge.reference import Outputs, Reference
from kernelarena.protocol import sizes
from kernelarena.protocol.draw import draw
from kernelarena.protocol.tolerance import growth
from kernelarena.protocol.truth import Truth, evaluate, widened
from kernelarena.spec import Distribution, Layout, Platform, Shape, Task
from kernelarena.spec.task import Aspect, Kind

Inputs = dict[str, Any]
_FAR = 1000  # times the error that rounding explains
_REACH = 4  # sizes of a dimension that are tried when one alone is to be changed


def check_work(task: Task, seed: int) -> Iterator[str]:
    """Look whether constraints and the work model can be computed for any shape that may be drawn."""
    try:
        drawn = draw(task, seed, 4 * len(task.dtypes))
    except ValueError as error:
        yield f"hidden shapes cannot be drawn: {error}; write constraints and work for every size that dims allow"
        return
    corners = [{name: sizes.smallest(dim) for name, dim in task.dims.items()}]
    corners += [{**task.visible[0], name: sizes.at_most(dim, dim.max)} for name, dim in task.dims.items()]
    shapes = [Shape(dims=dims, dtype=task.dtypes[0]) for dims in corners]
    for shape in [*drawn, *shapes]:
        try:
            if task.why_not(shape.dims) is None:
                work = {"flops": task.flops(shape), "bytes": task.bytes(shape)}
                for name, value in work.items():
                    if not math.isfinite(value) or value < 0:
                        yield f"work.{name} is {value:g} for {shape}; it must be what the operator takes at least"
                        return
        except (ValueError, OverflowError) as error:
            yield f"constraints or work cannot be computed for {shape}: {error}"
            return


def check_drawing(reference: Reference, task: Task, platform: Platform, shape: Shape) -> Iterator[str]:
    """Look whether ``inputs()`` draws from the seed alone, and from all that a shape says."""
    first, again, other = (reference.draw(shape, platform, seed) for seed in (1, 1, 2))
    if list(first) != list(again) or not all(_same(first[name], again[name]) for name in first):
        yield "inputs() gives other inputs when it is called again with the same seed; draw every number from rng"
    elif _drawn(first) and all(_same(first[name], other[name]) for name in first):
        yield "inputs() gives the same inputs for every seed; draw them from rng"
    if wrong := [name for name, value in _tensors(first).items() if value.device.type != "cpu"]:
        yield f"inputs() puts {', '.join(wrong)} on another device than it is asked to; make tensors with rng"
    for name in _ignored_dims(reference, task, platform, shape):
        yield f"inputs() ignores the dimension {name}: no input changes with it; use it, or leave it out of dims"
    dtypes = {tuple(_dtypes(reference, platform, shape.with_(dtype=dtype))) for dtype in task.dtypes}
    if len(dtypes) < len(task.dtypes):
        yield "inputs() gives equal dtypes for different dtypes of the task; let rng choose the dtype"
    strided = shape.with_(layout=Layout.STRIDED)
    if Layout.STRIDED in task.layouts and not _is_laid_out(reference.draw(strided, platform, 1)):
        yield (
            "inputs() ignores the layout: no input is strided where the trial asks for it; make tensors with rng and "
            "change them in place, or leave the layout out of layouts"
        )


def check_dependence(reference: Reference, task: Task, platform: Platform, shapes: list[Shape]) -> Iterator[str]:
    """Look whether each input, changed alone, changes some output, and each output is changed by some input.

    Parameters
    ----------
    shapes
        Small ones; an input must matter on one of them.
    """
    if Aspect.VALUES not in task.contract:
        return
    idle: dict[str, bool] = {}
    fixed: dict[int, bool] = {}
    for shape in shapes:
        inputs, others = (reference.draw(shape, platform, seed) for seed in (1, 2))
        before = _evaluated(reference, inputs)
        if before is None:
            continue
        for name, value in inputs.items():
            if isinstance(value, Tensor) and (task.kind is Kind.CREATION or not value.numel()):
                continue  # it only stands for a size or a dtype
            if name == task.in_place:
                continue  # it may be written over as a whole
            if task.kind is Kind.VIEW and isinstance(value, Tensor) and value.shape == before[0].shape:
                continue  # it may only say how large the view is to be
            after = _evaluated(reference, {**inputs, name: _altered(value, others[name])})
            changed = [True] * len(before) if after is None else _differences(before, after)
            idle[name] = idle.get(name, True) and not any(changed)
            for index, differs in enumerate(changed):
                fixed[index] = fixed.get(index, True) and not differs
    for name, is_idle in idle.items():
        if is_idle:
            yield f"the output does not depend on the input '{name}'; use it in reference(), or do not pass it"
    for index, is_fixed in fixed.items():
        if is_fixed:
            yield f"out[{index}] is the same whatever the inputs; a kernel could return it without computing anything"


def check_form(
    reference: Reference, platform: Platform, shape: Shape, inputs: Inputs, outputs: Outputs
) -> Iterator[str]:
    """Look whether outputs are plain tensors, and as large without data as with them."""
    device = next((value.device for value in _tensors(inputs).values()), None)
    for index, output in enumerate(outputs):
        if output.layout is not torch.strided or output.is_quantized:
            yield f"out[{index}] is no dense tensor; return its dense parts as outputs of their own"
            return
        if output.is_complex():
            yield f"out[{index}] is complex; return torch.view_as_real of it"
            return
        if device is not None and output.device.type != device.type:
            yield f"out[{index}] is on {output.device}, the inputs are on {device}; create it on their device"
            return
    try:
        _, outlined = reference.outline(shape, platform)
    except InputError as error:
        yield f"without data, on the meta device: {error}"
        return
    if outlined is not None and _forms(outlined) != _forms(outputs):
        yield (
            f"on the meta device reference() returns {_forms(outlined)}, with data {_forms(outputs)}, for {shape}; "
            "sizes and dtypes must not depend on values"
        )


def check_purity(reference: Reference, task: Task, inputs: Inputs) -> Iterator[str]:
    """Look whether the reference leaves its inputs alone, returns memory of its own, and always the same."""
    before = {name: value.clone() for name, value in _tensors(inputs).items()}
    outputs = reference.function(**inputs)
    for name, value in before.items():
        if not _same(value, inputs[name]):
            yield f"reference() changes its input '{name}'; compute in new tensors"
            inputs[name].copy_(value)
    own = {value.untyped_storage().data_ptr(): name for name, value in _tensors(inputs).items() if value.numel()}
    for index, output in enumerate(outputs):
        origin = own.get(output.untyped_storage().data_ptr())
        if origin is not None and output.numel() and task.kind is not Kind.VIEW:
            yield f"reference() returns its own input '{origin}' as out[{index}]; return a new tensor"
    with torch.no_grad():
        again = reference.function(**inputs)
    on_host = all(output.device.type == "cpu" for output in outputs)
    # On a device the framework itself may add up in changing order; the comparison of its answer allows for that.
    if (
        on_host
        and Aspect.VALUES in task.contract
        and not all(_same(one, other) for one, other in zip(outputs, again, strict=False))
    ):
        yield "reference() gives another answer when it is called again; it must depend on nothing but its inputs"


def check_finite(task: Task, shape: Shape, truth: Truth) -> Iterator[str]:
    """Look whether the truth is made of numbers where the inputs are."""
    if shape.distribution is Distribution.SPECIALS or Aspect.VALUES not in task.contract:
        return
    for index, output in enumerate(truth.outputs):
        if output.exact or bool(output.value.isfinite().all()):
            continue
        count = int((~output.value.isfinite()).sum())
        yield (
            f"reference() is not finite on its own inputs: {count} of {output.value.numel()} elements of out[{index}]; "
            "draw what the operator is defined for, or leave the distribution out of distributions"
        )


def check_agreement(shape: Shape, truth: Truth) -> Iterator[str]:
    """Look whether the reference computes in float32 what it computes in float64, up to rounding."""
    for index, output in enumerate(truth.outputs):
        length = 0.0 if output.exact else float(output.value.norm())
        if length == 0 or not math.isfinite(length) or output.dtype.itemsize == 1:
            continue
        rounding = growth(truth) * (output.conditioning_norm + truth.unit * length)
        if output.single_norm > _FAR * rounding:
            yield (
                f"out[{index}] of reference() differs in float32 from itself in float64 by "
                f"{output.single_norm / length:.2g} of its norm on {shape}, far more than rounding explains; it must "
                "compute the same at every dtype"
            )


def _evaluated(reference: Reference, inputs: Inputs) -> list[Tensor] | None:
    """Return the outputs in float64 where that is possible; None if the reference refuses the inputs."""
    for precision in (torch.float64, torch.float32):
        try:
            return evaluate(reference.function, widened(inputs, precision))
        except InputError:
            continue
    return None


def _altered(value: Any, other: Any) -> Any:
    """Return another value that an input may have."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return 2 * value + 0.5
    if not _same(value, other):
        return other
    if value.dtype is torch.bool:
        return ~value
    if value.is_floating_point():
        return value * 1.5 + 0.5
    return value.flip(0) if value.dim() else value  # integers may be indices: only in another order are they valid


def _ignored_dims(reference: Reference, task: Task, platform: Platform, shape: Shape) -> Iterator[str]:
    before = _outline(reference, platform, shape)
    for name, dim in task.dims.items():
        larger, smaller = [shape[name]], [shape[name]]
        for _ in range(_REACH):
            larger.append(sizes.after(dim, larger[-1]))
            smaller.append(sizes.at_most(dim, max(smaller[-1] - 1, 0)))
        others = [{**shape.dims, name: size} for size in (*larger, *smaller) if size != shape[name]]
        allowed = [dims for dims in others if task.why_not(dims) is None]
        if allowed and all(_outline(reference, platform, shape.with_(dims=dims)) == before for dims in allowed):
            yield name


def _outline(reference: Reference, platform: Platform, shape: Shape) -> list[Any]:
    inputs, _ = reference.outline(shape, platform)
    return [tuple(value.shape) if isinstance(value, Tensor) else value for value in inputs.values()]


def _dtypes(reference: Reference, platform: Platform, shape: Shape) -> Iterator[str]:
    inputs, _ = reference.outline(shape, platform)
    return (dtype_name(value.dtype) for value in _tensors(inputs).values())


def _is_laid_out(inputs: Inputs) -> bool:
    """Whether some tensor of several rows is strided, or none has any."""
    tensors = [value for value in _tensors(inputs).values() if value.dim() > 1 and min(value.shape) > 1]
    return not tensors or any(not value.is_contiguous() for value in tensors)


def _forms(outputs: Outputs) -> str:
    return ", ".join(f"{list(output.shape)} {dtype_name(output.dtype)}" for output in outputs)


def _tensors(inputs: Mapping[str, Any]) -> dict[str, Tensor]:
    return {name: value for name, value in inputs.items() if isinstance(value, Tensor)}


def _drawn(inputs: Mapping[str, Any]) -> bool:
    """Whether there is anything to draw: a tensor without elements only stands for a dtype."""
    return any(value.numel() for value in _tensors(inputs).values())


def _differences(before: list[Tensor], after: list[Tensor]) -> list[bool]:
    if len(before) != len(after):
        return [True] * len(before)
    return [not _same(one, other) for one, other in zip(before, after, strict=True)]


def _same(one: Any, other: Any) -> bool:
    """Whether two inputs or outputs are equal bit by bit."""
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return bool(one == other) and type(one) is type(other)
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    if not one.numel() or one.layout is not torch.strided:
        return True
    first, second = (value.detach().contiguous().view(-1).view(torch.uint8) for value in (one, other))
    return torch.equal(first, second)
