"""The ways of being wrong that a checker must notice, each made from the right answer of a trial.

Every function takes the material of a trial and the index of the output that is to be altered, and yields altered
versions of it: several where there are variants, none where the control does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from kernelarena.protocol.controls import Control, Make, Material
from kernelarena.protocol.other_arithmetic import Rules
from kernelarena.protocol.tolerance import bounds
from kernelarena.protocol.truth import evaluate

TILE = 8
"""The last tile is this fraction of a dimension."""
MANY = 16
"""Elements over which roundings average out."""
NOISE = 10.0
"""Bounds of the tolerance by which every element is moved."""


def _changed(alter: Callable[[Tensor], Tensor]) -> Make:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        yield alter(material.honest[index])

    return make


def _floats(alter: Callable[[Tensor], Tensor]) -> Make:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        if material.honest[index].is_floating_point():
            yield alter(material.honest[index])

    return make


def _scaled(factor: float) -> Make:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        y = material.honest[index]
        if not y.is_floating_point():
            return
        step = torch.finfo(y.dtype).eps
        # Single elements are rounded by up to half a step; over many, a wrong factor shows nevertheless.
        if step < abs(factor - 1) / 4 or (step < abs(factor - 1) and y.numel() >= MANY):
            yield (y.double() * factor).to(y.dtype)

    return make


def _with_one(value: float) -> Callable[[Tensor], Tensor]:
    def alter(y: Tensor) -> Tensor:
        y = y.clone().contiguous()
        y.view(-1)[y.numel() // 2] = value
        return y

    return alter


def _negated(y: Tensor) -> Tensor:
    return ~y if y.dtype is torch.bool else (-y.double()).to(y.dtype) if y.is_floating_point() else -y


def _inputs(material: Material, index: int) -> Iterator[Tensor]:
    y = material.honest[index]
    for value in material.inputs.values():
        if not isinstance(value, Tensor) or not value.numel():
            continue
        if value.numel() == y.numel():
            yield value.reshape(y.shape).to(y.dtype)
        elif value.dim() == y.dim() and all(have >= need for have, need in zip(value.shape, y.shape, strict=True)):
            yield value[tuple(slice(length) for length in y.shape)].to(y.dtype)


def _previous(material: Material, index: int) -> Iterator[Tensor]:
    yield material.previous[index]


def _earlier(material: Material, index: int) -> Iterator[Tensor]:
    yield material.earlier[index]


def _poisons(y: Tensor) -> Iterator[Tensor]:
    """Yield what memory that nobody wrote may hold: poison of two kinds, both of the judge's, and zeros."""
    for byte in (0xFF, 0xFB):
        if y.dtype is torch.bool:
            yield torch.ones_like(y)
        else:
            raw = torch.full((y.numel() * y.element_size(),), byte, dtype=torch.uint8, device=y.device)
            yield raw.view(y.dtype).view(y.shape)
    yield torch.zeros_like(y)


def _tail(y: Tensor, instead: Tensor, axis: int) -> Tensor:
    y = y.clone()
    length = y.shape[axis]
    span = max(length // TILE, 1)
    y.narrow(axis, length - span, span).copy_(instead.narrow(axis, length - span, span))
    return y


def _unwritten(axis: int) -> Make:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        y = material.honest[index]
        if y.dim() >= -axis:
            for garbage in (*_poisons(y), material.previous[index]):
                yield _tail(y, garbage, axis)

    return make


def _rolled(axis: int) -> Make:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        y = material.honest[index]
        if y.dim() >= -axis and y.shape[axis] > 1:
            yield y.roll(1, axis)

    return make


def _transposed(material: Material, index: int) -> Iterator[Tensor]:
    y = material.honest[index]
    if y.dim() >= 2 and min(y.shape[-2:]) > 1:
        yield y.transpose(-1, -2).reshape(y.shape)  # written column by column


def _first_row(material: Material, index: int) -> Iterator[Tensor]:
    y = material.honest[index]
    if y.dim() and y.shape[0] > 1:
        yield y[:1].expand(y.shape).contiguous()


def _swapped(material: Material, index: int) -> Iterator[Tensor]:
    y = material.honest[index]
    for position, other in enumerate(material.honest):
        if position != index and (other.shape, other.dtype) == (y.shape, y.dtype):
            yield other


def _one_element(material: Material, index: int) -> Iterator[Tensor]:
    """Exchange one element for its neighbour, and for its own negative: an element that is neither large nor small."""
    y = material.honest[index]
    axis = next((axis for axis in reversed(range(y.dim())) if y.shape[axis] > 1), None)
    wrong = [] if axis is None else [y.roll(1, axis)]
    if y.is_floating_point() or y.dtype is torch.bool:
        wrong.append(_negated(y))
    for other in wrong:
        size = (other.double() - y.double()).abs().nan_to_num(0.0, posinf=0.0).flatten()
        order = size.argsort()
        changed = int((size > 0).sum())
        middle = order[len(order) - 1 - changed // 2]
        altered = y.clone().contiguous()
        altered.view(-1)[middle] = other.reshape(-1)[middle]
        yield altered


def _small_lost(material: Material, index: int) -> Iterator[Tensor]:
    """Lose the smaller half of the elements, as an answer does that skips what seems not to matter."""
    y = material.honest[index]
    if y.is_floating_point() and y.numel() > 1:
        size = y.double().abs().nan_to_num(0.0, posinf=0.0)
        yield torch.where(size < size.flatten().sort().values[y.numel() // 2], torch.zeros_like(y), y)


def _noise(material: Material, index: int) -> Iterator[Tensor]:
    output, y = material.truth.outputs[index], material.honest[index]
    if not y.is_floating_point():
        return
    generator = torch.Generator(device=y.device).manual_seed(index)
    signs = torch.randint(0, 2, y.shape, generator=generator, device=y.device) * 2 - 1
    limit = bounds(output, material.truth)
    allowed = limit.reduced_element if material.allow_reduced_precision else limit.element
    moved = y.double() + NOISE * signs * allowed
    yield moved.clamp(-torch.finfo(y.dtype).max, torch.finfo(y.dtype).max).to(y.dtype)


def _input_cut(axis: int) -> Make:
    """Have the last column or row of an input taken for zeros, as a masked load does that is one short."""

    def make(material: Material, index: int) -> Iterator[Tensor]:
        for name, value in material.inputs.items():
            if not isinstance(value, Tensor) or not value.is_floating_point() or value.dim() < -axis:
                continue
            if value.shape[axis] > 1 and value.numel():
                cut = value.clone()
                cut.narrow(axis, value.shape[axis] - 1, 1).zero_()
                values = evaluate(material.reference, {**material.inputs, name: cut})
                yield values[index].to(material.honest[index].dtype)

    return make


def _by(rules: Callable[[Material, torch.dtype], Rules | None]) -> Make:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        y = material.honest[index]
        chosen = rules(material, _input_dtype(material))
        if chosen is None or not y.is_floating_point() or _is_coarser(y.dtype, chosen.narrow):
            return
        values = material.computed(chosen)
        # An output that comes out the same has nothing to do with what was computed otherwise.
        if values is not None and not torch.equal(values[index].double(), y.double()):
            yield values[index]

    return make


def _is_coarser(dtype: torch.dtype, intermediate: torch.dtype | None) -> bool:
    """Whether what an intermediate loses is lost in the output's own rounding."""
    return intermediate is not None and torch.finfo(dtype).eps >= torch.finfo(intermediate).eps


def _input_dtype(material: Material) -> torch.dtype:
    """Return the dtype that the trial is about: that of the first floating-point input."""
    tensors = [value for value in material.inputs.values() if isinstance(value, Tensor) and value.numel()]
    return next((value.dtype for value in tensors if value.is_floating_point()), torch.float32)


def _half_sums(material: Material, dtype: torch.dtype) -> Rules:
    if dtype is torch.float64:
        return Rules(accumulator=torch.float32)
    return Rules(accumulator=torch.bfloat16 if dtype is torch.bfloat16 else torch.float16)


_NARROWER = {
    torch.float64: torch.float32, torch.float32: torch.bfloat16, torch.float16: torch.bfloat16,
    torch.bfloat16: torch.float8_e5m2,
}  # fmt: skip


def _narrow(material: Material, dtype: torch.dtype) -> Rules | None:
    return Rules(narrow=_NARROWER[dtype]) if dtype in _NARROWER else None


_FLOATS = "a floating-point output"
_SUM = "a sum that can be taken apart"
CONTROLS: tuple[Control, ...] = (
    Control("zeros", _changed(torch.zeros_like)),
    Control("ones", _changed(torch.ones_like)),
    Control("nan", _floats(lambda y: torch.full_like(y, math.nan)), _FLOATS),
    Control("one nan", _floats(_with_one(math.nan)), _FLOATS),
    Control("negated", _changed(_negated), indifferent=True),
    Control("an input returned", _inputs, "an input as large as an output", indifferent=True),
    Control("previous output", _previous),
    Control("output of changed inputs", _earlier, faint=True),
    Control("last columns unwritten", _unwritten(-1), "an output with a dimension"),
    Control("last rows unwritten", _unwritten(-2), "an output with two dimensions"),
    Control("columns shifted", _rolled(-1), "an output with two columns", indifferent=True),
    Control("rows shifted", _rolled(-2), "an output with two rows", indifferent=True),
    Control("transposed", _transposed, "an output with two rows and columns", indifferent=True),
    Control("first row everywhere", _first_row, "an output with two rows", indifferent=True),
    Control("outputs exchanged", _swapped, "two outputs of one form", indifferent=True),
    Control("1 % larger", _scaled(1.01), "a floating-point output that resolves 1 %"),
    Control("1 % smaller", _scaled(0.99), "a floating-point output that resolves 1 %"),
    Control("one element", _one_element, "an output with two elements"),
    Control("smaller half lost", _small_lost, _FLOATS, faint=True, indifferent=True),
    Control("noise", _noise, _FLOATS),
    Control(
        "last column not read", _input_cut(-1), "a floating-point input with two columns", faint=True,
        indifferent=True,
    ),
    Control("last row not read", _input_cut(-2), "a floating-point input with two rows", faint=True, indifferent=True),
    Control("one term short", _by(lambda material, dtype: Rules(one_short=True)), _SUM, faint=True),
    Control("half accumulation", _by(_half_sums), _SUM, precision=True, faint=True),
    Control(
        "tf32 products", _by(lambda material, dtype: Rules(tf32=True) if dtype is torch.float32 else None),
        "a float32 matrix product", precision=True, faint=True,
    ),
    Control(
        "narrow intermediates", _by(_narrow), "an output finer than a narrow intermediate", precision=True,
        faint=True,
    ),
)  # fmt: skip
"""Every way of being wrong that a task's checker must notice."""
