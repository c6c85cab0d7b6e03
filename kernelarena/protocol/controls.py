"""Controls: wrong answers that a task's checker must not let pass, and right ones that it must.

A checker is trusted when it is known to refuse. Each negative control (:mod:`kernelarena.protocol.wrong_answers`) is
made from the right answer of a trial, for one output at a time (the others stay right), and held against the truth
like a kernel's answer. What comes of it is one of three:

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
With the names of :mod:`kernelarena.protocol.tolerance`, the *floor* of an element is the sum of

* E, the error of PyTorch at the kernel's dtype, and the row's largest error of PyTorch in float32;
* what rounding makes of sums: g times the row's conditioning C, and g·ε·T;
* one ulp of t;

and that of the norm is made of the norms of the same. An altered answer is wrong if it differs from t by more than
`BEYOND` floors in some element or in norm, if it is a number where none is due or the reverse, or, for integers and
booleans, if it differs at all. Nearer than that it is a matter of taste.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from kernelarena.protocol.other_arithmetic import OtherArithmetic, Rules, composed
from kernelarena.protocol.tolerance import K, compare, compare_output, growth, scales, spacing
from kernelarena.protocol.truth import Output, Reference, Truth, evaluate, in_range, reach, widened
from kernelarena.spec.base import StrEnum

BEYOND = 2 * K
"""Floors that an altered answer must be away from the truth to count as wrong: twice what the tolerance allows of E."""


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
    earlier: tuple[Tensor, ...]
    """The right answer to the same inputs before some of their rows were replaced."""
    allow_reduced_precision: bool = False
    """Whether the task does."""
    _computed: dict[Rules, tuple[Tensor, ...] | None] = field(default_factory=dict)

    @property
    def compute_dtype(self) -> torch.dtype:
        """What an honest kernel computes in."""
        return torch.float64 if self.truth.unit < 2.0**-50 else torch.float32

    def accepts(self, answer: Sequence[Tensor]) -> bool:
        """Tell whether a kernel passes that gives this answer."""
        return compare(self.truth, answer, allow_reduced_precision=self.allow_reduced_precision).passed

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


Make = Callable[[Material, int], Iterator[Tensor]]
"""Yields altered versions of one output: several, or none where the control does not apply."""


@dataclass(frozen=True)
class Control:
    """One way of being wrong."""

    name: str
    make: Make
    needs: str = ""
    """What an output or a task must have for it to apply; nothing if it always does."""
    precision: bool = False
    """Whether it is a loss of precision, which a task may allow."""
    indifferent: bool = False
    """Whether there are operators for which it is the right answer always: symmetric ones, copies, one-hot codes."""
    faint: bool = False
    """Whether it changes so little that rounding may well hide it: in long sums, in coarse dtypes."""


def judge(control: Control, material: Material) -> Iterator[tuple[Outcome, int, str]]:
    """Hold a control against the truth.

    Yields
    ------
    outcome, index of the altered output, and how far from the truth it is, in words
    """
    for index, output in enumerate(material.truth.outputs):
        if not material.honest[index].numel():
            continue
        allowed = material.allow_reduced_precision
        for altered in control.make(material, index):  # the other outputs are right, which need not be found each time
            if not compare_output(material.truth, index, altered, allow_reduced_precision=allowed).passed:
                yield Outcome.REJECTED, index, ""
            elif is_wrong(output, material.truth, altered, allow_reduced_precision=allowed):
                yield Outcome.PASSED, index, _distance(output, altered)
            else:
                yield Outcome.VACUOUS, index, ""


def is_wrong(output: Output, truth: Truth, altered: Tensor, *, allow_reduced_precision: bool = False) -> bool:
    """Tell by what was measured whether an answer is wrong, rather than right up to rounding.

    Parameters
    ----------
    output
        One of ``truth.outputs``.
    truth
        Of the trial.
    altered
        What is given for that output, with its size and dtype.
    allow_reduced_precision
        Whether sums may be rounded as the task's inputs are, and not only as what an honest kernel computes in.
    """
    t, n = output.value, output.framework
    if output.exact:
        return bool(((altered != t) & (altered != n)).any())
    kind = torch.finfo(n.dtype)
    y, wide = altered.double(), n.double()
    held = in_range(t, reach(kind))  # what overflows the dtype may be infinite, or its largest number
    if bool((y.isfinite() != wide.isfinite())[held | ~t.isfinite()].any()):
        return True
    numbers = held & y.isfinite() & wide.isfinite()
    target = torch.where(numbers, t, 0.0)
    off = torch.where(numbers, y - target, 0.0).abs()
    own = float(torch.where(numbers, wide - target, 0.0).norm())
    length, missed, scale = float(target.norm()), *scales(output, truth)
    # To first order, conditioning is proportional to the unit that inputs are perturbed by.
    sums = growth(truth) * (truth.coarse_unit / truth.unit if allow_reduced_precision else 1.0)
    element = missed + output.single + sums * (output.conditioning + truth.unit * scale) + spacing(target, kind)
    norm = own + output.single_norm + sums * (output.conditioning_norm + truth.unit * length) + kind.eps / 2 * length
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
