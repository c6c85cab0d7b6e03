"""Negative controls: answers that a kernel gives when something is wrong with it, and that must not pass.

A checker is trusted when it is known to refuse. Each control is made from the right answer of a trial, for one output
at a time (the others stay right), and held against the truth like a kernel's answer. What comes of it is one of three:

rejected
    as it must be;
vacuous
    accepted, and rightly: on this trial the altered answer is as good as an honest one (zeros where the truth is zero,
    rows shifted where all rows are equal, a term left out of a sum in which it is lost by rounding);
passed
    accepted, and wrongly: the tolerance of the task is too wide, or its output says too little.

When an altered answer counts as wrong
--------------------------------------
By what honest arithmetic does on the trial, without the allowances of the tolerance, which is what is being tested.
With the names of :mod:`kernelarena.protocol.tolerance`, the *floor* of an element is the largest of

* E, the error of PyTorch at the kernel's dtype, and the row's largest error of PyTorch in float32;
* what rounding makes of sums: g times the row's conditioning C, and g·ε·T;
* one ulp of t;

and that of the norm is made of the norms of the same. An altered answer is wrong if it differs from t by more than
`BEYOND` floors in some element or in norm, if it is a number where none is due or the reverse, or, for integers and
booleans, if it differs at all. Nearer than that it is a matter of taste.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from kernelarena.protocol.other_arithmetic import OtherArithmetic, Rules, composed
from kernelarena.protocol.tolerance import K, bounds, compare, growth, scales, spacing
from kernelarena.protocol.truth import Output, Reference, Truth, evaluate, in_range, reach, widened
from kernelarena.spec.base import StrEnum

BEYOND = 2 * K
"""Floors that an altered answer must be away from the truth to count as wrong: twice what the tolerance allows of E."""
TILE = 8
"""The last tile is this fraction of a dimension."""
NOISE = 10.0
"""Bounds of the tolerance by which every element is moved."""


class Outcome(StrEnum):
    """What came of a control on one trial."""

    REJECTED = "rejected"
    VACUOUS = "vacuous"
    PASSED = "passed"


@dataclass(frozen=True)
class Material:
    """What the controls of one trial are made of."""

    reference: Reference
    inputs: Mapping[str, Any]
    truth: Truth
    honest: tuple[Tensor, ...]
    """The right answer, at the dtypes that a kernel must return."""
    previous: tuple[Tensor, ...]
    """The right answer to other inputs of the same shape."""
    _computed: dict[Rules, tuple[Tensor, ...] | None] = field(default_factory=dict)

    @property
    def compute_dtype(self) -> torch.dtype:
        """What an honest kernel computes in."""
        return torch.float64 if self.truth.unit < 2.0**-50 else torch.float32

    def computed(self, rules: Rules) -> tuple[Tensor, ...] | None:
        """Return the reference's answer by other rules, or None where they change nothing about how it is computed.

        Inputs are widened to the dtype that an honest kernel computes in, and outputs rounded to their own.
        """
        if rules not in self._computed:
            self._computed[rules] = self._compute(rules)
        return self._computed[rules]

    def _compute(self, rules: Rules) -> tuple[Tensor, ...] | None:
        mode = OtherArithmetic(rules)
        try:
            with composed(), mode:
                values = evaluate(self.reference, widened(self.inputs, self.compute_dtype))
        except Exception:  # an operator that does not survive being taken apart; the code is a task's
            return None
        if not mode.used:
            return None
        return tuple(value.to(right.dtype) for value, right in zip(values, self.honest, strict=True))


@dataclass(frozen=True)
class Control:
    """One way of being wrong."""

    name: str
    make: Callable[[Material, int], Iterator[Tensor]]
    """Yields altered versions of one output: several, or none where the control does not apply."""
    needs: str = ""
    """What an output or a task must have for it to apply; nothing if it always does."""
    precision: bool = False
    """Whether it is a loss of precision, which a task may allow."""


def judge(control: Control, material: Material) -> Iterator[tuple[Outcome, int, str]]:
    """Hold a control against the truth.

    Yields
    ------
    outcome, index of the altered output, and how far from the truth it is, in words
    """
    for index, output in enumerate(material.truth.outputs):
        if not material.honest[index].numel():
            continue
        for altered in control.make(material, index):
            answer = [altered if position == index else right for position, right in enumerate(material.honest)]
            if not compare(material.truth, answer).passed:
                yield Outcome.REJECTED, index, ""
            elif is_wrong(output, material.truth, altered):
                yield Outcome.PASSED, index, _distance(output, altered)
            else:
                yield Outcome.VACUOUS, index, ""


def is_wrong(output: Output, truth: Truth, altered: Tensor) -> bool:
    """Tell by what was measured whether an answer is wrong, rather than right up to rounding.

    Parameters
    ----------
    output
        One of ``truth.outputs``.
    truth
        Of the trial.
    altered
        What is given for that output, with its size and dtype.
    """
    t, n = output.value, output.framework
    if output.exact:
        return bool(((altered != t) & (altered != n)).any())
    kind = torch.finfo(n.dtype)
    y, wide = altered.double(), n.double()
    held = in_range(t, reach(kind))  # what overflows the dtype may be infinite, or its largest number
    if bool((y.isfinite() != wide.isfinite())[held | t.isnan()].any()):
        return True
    numbers = held & y.isfinite() & wide.isfinite()
    target = torch.where(numbers, t, 0.0)
    off = torch.where(numbers, y - target, 0.0).abs()
    own = float(torch.where(numbers, wide - target, 0.0).norm())
    sums, length = growth(truth), float(target.norm())
    rows = torch.stack(
        [
            *(scale * factor for scale, factor in zip(scales(output, truth), (1.0, sums * truth.unit), strict=True)),
            output.single,
            sums * output.conditioning,
        ]
    ).amax(0)
    element = torch.maximum(rows, spacing(target, kind))
    norms = (output.single_norm, sums * output.conditioning_norm, sums * truth.unit * length, kind.eps / 2 * length)
    norm = max(own, *norms)
    return bool((off > BEYOND * element).any()) or float(off.norm()) > BEYOND * norm > 0


def _distance(output: Output, altered: Tensor) -> str:
    if output.exact:
        return f"{int((altered != output.value).sum())} of {altered.numel()} elements differ"
    t = torch.where(output.value.isfinite(), output.value, 0.0)
    error = (altered.double() - t).nan_to_num(math.inf, posinf=math.inf, neginf=math.inf)
    own = torch.where(output.framework.isfinite(), output.framework.double() - t, 0.0)
    length = float(t.norm())
    if length == 0:
        return f"it is off by {float(error.abs().max()):.2g} where the truth is zero"
    return f"it errs by {float(error.norm()) / length:.2g} of the norm, PyTorch by {float(own.norm()) / length:.2g}"


# How altered answers are made. Each function takes the material and the index of the output.


def _changed(alter: Callable[[Tensor], Tensor]) -> Callable[[Material, int], Iterator[Tensor]]:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        yield alter(material.honest[index])

    return make


def _floats(alter: Callable[[Tensor], Tensor]) -> Callable[[Material, int], Iterator[Tensor]]:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        if material.honest[index].is_floating_point():
            yield alter(material.honest[index])

    return make


def _scaled(factor: float) -> Callable[[Tensor], Tensor]:
    return lambda y: (y.double() * factor).to(y.dtype)


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


def _unwritten(axis: int) -> Callable[[Material, int], Iterator[Tensor]]:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        y = material.honest[index]
        if y.dim() >= -axis:
            for garbage in (*_poisons(y), material.previous[index]):
                yield _tail(y, garbage, axis)

    return make


def _rolled(axis: int) -> Callable[[Material, int], Iterator[Tensor]]:
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
    moved = y.double() + NOISE * signs * bounds(output, material.truth).element
    yield moved.clamp(-torch.finfo(y.dtype).max, torch.finfo(y.dtype).max).to(y.dtype)


def _input_cut(axis: int) -> Callable[[Material, int], Iterator[Tensor]]:
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


def _by(rules: Callable[[Material, torch.dtype], Rules | None]) -> Callable[[Material, int], Iterator[Tensor]]:
    def make(material: Material, index: int) -> Iterator[Tensor]:
        y = material.honest[index]
        chosen = rules(material, _input_dtype(material))
        values = None if chosen is None or not y.is_floating_point() else material.computed(chosen)
        if values is not None:
            yield values[index]

    return make


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
    Control("negated", _changed(_negated)),
    Control("an input returned", _inputs, "an input as large as an output"),
    Control("previous output", _previous),
    Control("last columns unwritten", _unwritten(-1), "an output with a dimension"),
    Control("last rows unwritten", _unwritten(-2), "an output with two dimensions"),
    Control("columns shifted", _rolled(-1), "an output with two columns"),
    Control("rows shifted", _rolled(-2), "an output with two rows"),
    Control("transposed", _transposed, "an output with two rows and columns"),
    Control("first row everywhere", _first_row, "an output with two rows"),
    Control("outputs exchanged", _swapped, "two outputs of one form"),
    Control("1 % larger", _floats(_scaled(1.01)), _FLOATS),
    Control("1 % smaller", _floats(_scaled(0.99)), _FLOATS),
    Control("one element", _one_element, "an output with two elements"),
    Control("smaller half lost", _small_lost, _FLOATS),
    Control("noise", _noise, _FLOATS),
    Control("last column not read", _input_cut(-1), "a floating-point input with two columns"),
    Control("last row not read", _input_cut(-2), "a floating-point input with two rows"),
    Control("one term short", _by(lambda material, dtype: Rules(one_short=True)), _SUM),
    Control("half accumulation", _by(_half_sums), _SUM, precision=True),
    Control(
        "tf32 products", _by(lambda material, dtype: Rules(tf32=True) if dtype is torch.float32 else None),
        "a float32 matrix product", precision=True,
    ),
    Control("narrow intermediates", _by(_narrow), _FLOATS, precision=True),
)  # fmt: skip
"""Every way of being wrong that a task's checker must notice."""


def honest_answers(material: Material) -> Iterator[tuple[str, tuple[Tensor, ...]]]:
    """Yield answers that honest kernels give, each with a name: the controls that must pass."""
    yield "PyTorch's own answer", material.honest
    rounded = [
        output.value.to(right.dtype) for output, right in zip(material.truth.outputs, material.honest, strict=True)
    ]
    yield "the rounded truth", tuple(rounded)
    chained = material.computed(Rules(accumulator=material.compute_dtype))
    if chained is not None:
        yield "sums in another order", chained
