r"""How far a kernel may be from the truth, and what it is when it is farther.

The rule
--------
With t, n and C of :mod:`kernelarena.protocol.truth`, y the kernel's output, k = 4, and for each output

====  ==============================================================================================================
u     unit roundoff of the output's dtype; ulp(t_i) the spacing of that dtype at t_i (Muller et al. 2018, section 2.3)
ε     unit roundoff of the type that an honest kernel computes in: float32, or float64 for float64 inputs
L     terms of the longest sum in the reference
g     growth: max(1, √L / 2), or L' / 4 if that is larger, L' being the terms of the longest sum of equal terms
C     largest conditioning of the row that the element lies in (the last dimension; a vector is one row)
E     largest |n − t| of the row, or C·‖n − t‖₂/‖C‖₂ if that is larger: the error of n as it is on average
T     largest |t| of the row; of the whole output if rows are shorter than 64 or repeat one value
ρ     k·g·C + 8·g·ε·T, what rounding in ε arithmetic explains
====  ==============================================================================================================

the kernel passes if all three hold:

element-wise
    |y_i − t_i| ≤ max(k·E, 2·ulp(t_i)) + ρ
in norm
    ‖y − t‖₂ ≤ max(k·‖n − t‖₂, 1.5·u·‖t‖₂) + ρ₂ + √m·s, and, whatever n does, no more than ‖t‖₂/2 unless ρ₂ +
    k·(PyTorch's error in float32) is; ρ₂ is ρ of the norms ‖C‖₂ and ‖t‖₂, m the number of elements, s the smallest
    number above zero
in bias
    \|⟨y − t, t⟩| / ‖t‖₂ ≤ max(k·|⟨n − t, t⟩| / ‖t‖₂, 1.5·u·‖t‖₂) + ρ₂ + √m·s

Integers and booleans must equal t, or n where the two differ. One-byte floats must be within one ulp of t, and off by
that much in no more than about one element in twenty.

Why
---
*k times the error of n* asks of a kernel what the framework delivers, at that dtype, on those numbers; nobody sets a
tolerance by hand. On its own it is fragile: n can be right by luck (one row of one element), and PyTorch may
accumulate more widely than any GPU kernel would. So there is a floor.

*C* is the floor that knows the problem. An algorithm that is backward stable returns the exact answer for inputs moved
by a few ε (Higham 2002, section 1.5), so C, which moves them by exactly ε with random signs, has the size of a stable
algorithm's error, cancellation included: where a sum cancels, so that no order of summation can get it right to many
digits, C is large against t, and where it does not, small.

*g*: summing L terms one after the other commits an error that grows, relative to C, like √L: the partial sums of
zero-mean terms have size √j, so that the rounding errors add up to about 0.3·ε·L against ε·√L. (Higham and Mary
2019, SIAM J. Sci. Comput. 41(5), show that √L rather than L is the growth to expect of rounding errors in general;
Higham 2002, section 4.2, has the bounds for recursive, blocked and pairwise orders.) The term in T covers sums of
one sign, whose relative error grows like √L·ε. Equal terms are the exception: their rounding errors all point one
way, and the deterministic bound, proportional to L, is the one that holds.

*E and T are evened out*, because short rows and rows of one repeated value are samples of one: n may be right there
by chance, and the numbers that an honest kernel cancels (1 + tanh x for x far below zero) may be far larger than t.

*T and C of the row*, not of the element: a softmax's or a product's rounding error has the size of its row.

*The norm* sees what single elements hide: an output rounded once has an error of 0.42·u in norm (uniform errors), of
which k = 4 makes 1.7·u; a sum accumulated in half exceeds that from about 64 terms on, though element by element it
stays inside the rounding of the row's largest.

*The bias* sees a wrong factor. Rounding errors hardly project on t, so the bound on the projection, 1.5·u at most,
is three times as sharp as the norm's: a result scaled by 1 % fails even in bfloat16, where single elements are
rounded by up to 0.4 %.

*n is believed only so far*: where PyTorch itself fails (a square that overflows in float16), E would let anything
pass. It counts for no more than what arithmetic of the inputs' own precision explains, the *reduced* band below, or
than the error that PyTorch makes in float32. Where t is exactly zero, nothing contradicts n.

*Zeros cannot pass* while t is a number that float32 arithmetic can tell from zero, which is what ‖t‖₂/2 is for.
Where it is not (the layer norm of constant rows, 0/√(0+eps), is zero up to rounding), zeros are the right answer,
and :attr:`Bounds.informative` says that the trial proves nothing.

Infinities and nans must be those of t rounded to the dtype, or of n (which may overflow where float64 does not).

When it fails
-------------
``wrong-shape``, ``wrong-dtype``; ``non-finite`` where a number was due, or a number where it was not;
``reduced-precision`` if the errors lie inside the band of tf32 or half accumulation, which is the same formula with
ε = max(2**-11, unit roundoff of the inputs), at most ‖t‖₂/10 in norm, *and* look like rounding: spread over most
elements, and not proportional to t; ``mismatch`` otherwise. A task that allows reduced precision passes in that band.

References
----------
N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., SIAM 2002.
N. J. Higham and T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41(5), 2019.
J.-M. Muller et al., *Handbook of Floating-Point Arithmetic*, 2nd ed., Birkhäuser 2018.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from kernelarena.protocol.difference import describe_class, describe_elements, describe_size, describe_whole
from kernelarena.protocol.truth import Output, Truth, in_range, reach, row_max, truth
from kernelarena.spec.vocabulary import Reason

__all__ = ["Bounds", "Comparison", "Truth", "bounds", "compare", "compare_output", "truth"]

K = 4.0
"""How many times the error of n a kernel may err."""
ULPS = 2.0
"""Floor of the element-wise bound, in ulp of t: one rounding to the dtype and one of an intermediate."""
ROUNDINGS = 1.5
"""Floor of the bounds on norm and bias, in unit roundoffs of the norm of t."""
SUM_ULPS = 8.0
"""ε of the row's scale that a sum of one sign may lose for each unit of growth."""
FEW = 64
"""A row of fewer elements, or of equal ones, says too little about the scale of the numbers that went into it."""
ZEROS_CAP = 0.5
"""Share of the norm of t that n's error can never excuse."""
REDUCED_CAP = 0.1
"""Share of the norm of t that reduced precision can explain."""
FLIPS = 0.05
"""Share of the elements of a one-byte float output that may be rounded to the neighbour."""


@dataclass(frozen=True)
class Comparison:
    """How one call's outputs compare with the truth."""

    passed: bool
    reason: Reason | None = None
    detail: str = ""
    error: float = 0.0
    """Largest error in units of what is allowed: 1 is the edge; infinite where there is no measure for it."""


@dataclass(frozen=True)
class Bounds:
    """What one floating-point output may err by, in the output's own units."""

    element: Tensor
    """For each element, float64."""
    norm: float
    """For the Euclidean norm of the error."""
    bias: float
    """For the error's component along t."""
    reduced_element: Tensor
    reduced_norm: float
    informative: bool
    """Whether an output of zeros would be told from t."""


def bounds(output: Output, truth: Truth) -> Bounds:
    """Work out the bounds of the module's rule for one floating-point output.

    Parameters
    ----------
    output
        One of ``truth.outputs``, not an exact one.
    truth
        The trial that it belongs to.
    """
    kind = torch.finfo(output.framework.dtype)
    t = torch.where(in_range(output.value, reach(kind)), output.value, 0.0)
    missed = _error(output.framework, t, output.value)
    unit, smallest = kind.eps / 2, _smallest(kind)
    sums = growth(truth)
    scale, length = row_max(t.abs()), float(t.norm())
    ulp = spacing(t, kind)

    own, typical = scales(output, truth)
    rounding = K * sums * output.conditioning + SUM_ULPS * sums * truth.unit * typical
    rounding_norm = K * sums * output.conditioning_norm + SUM_ULPS * sums * truth.unit * length
    underflow = math.sqrt(t.numel()) * smallest
    # To first order, conditioning is proportional to the perturbation.
    coarse = max(truth.coarse_unit, unit)
    coarsening = sums * coarse / truth.unit
    reduced = K * (coarsening * output.conditioning + coarse * scale) + ulp
    reduced_norm = K * (coarsening * output.conditioning_norm + coarse * length) + underflow

    own_norm = float(missed.norm())
    if kind.bits == 8:
        # Half an ulp is lost by rounding; the rest is the neighbour being chosen because of a difference far smaller.
        element = ulp * (1 + 1e-6)
        flips = math.sqrt(FLIPS * float(ulp.square().sum()) + (float(ulp.max()) ** 2 if ulp.numel() else 0.0))
        norm = flips + K * max(own_norm, output.conditioning_norm)
        bias = norm
    else:
        believed = torch.where(scale == 0, own, torch.maximum(reduced, output.single))
        element = torch.maximum(K * torch.minimum(own, believed), ULPS * ulp) + rounding
        floor = ROUNDINGS * unit * length
        believed_norm = max(reduced_norm, output.single_norm) if length > 0 else own_norm
        norm = max(K * min(own_norm, believed_norm), floor) + rounding_norm + underflow
        bias = max(K * abs(_along(missed, t, length)), floor) + rounding_norm + underflow
    cap = max(ZEROS_CAP * length, K * output.single_norm + rounding_norm + underflow) if length > 0 else math.inf
    return Bounds(
        element=element,
        norm=min(norm, cap),
        bias=min(bias, cap),
        reduced_element=torch.maximum(torch.minimum(reduced, ZEROS_CAP * scale), element),
        reduced_norm=max(min(reduced_norm, REDUCED_CAP * length), min(norm, cap)),
        informative=length > min(norm, cap) or not bool(output.value.isfinite().any()),
    )


def scales(output: Output, truth: Truth) -> tuple[Tensor, Tensor]:
    """Return E and T of each row, evened out: float64, of a size that broadcasts against ``output.value``."""
    t = torch.where(in_range(output.value, reach(torch.finfo(output.framework.dtype))), output.value, 0.0)
    missed = _error(output.framework, t, output.value)
    even = float(missed.norm()) / output.conditioning_norm if output.conditioning_norm > 0 else 0.0
    scale = row_max(t.abs())
    few = truth.repeated or (t.dim() > 1 and t.shape[-1] < FEW)
    typical = scale.max().expand_as(scale) if few and scale.numel() else scale
    return torch.maximum(row_max(missed.abs()), even * output.conditioning), typical


def growth(truth: Truth) -> float:
    """Return g: how many roundings' worth of error the longest sum of the reference commits, of honest size."""
    return max(1.0, truth.equal_terms / 4, math.sqrt(truth.terms) / 2)


def compare(truth: Truth, outputs: Sequence[Tensor], *, allow_reduced_precision: bool = False) -> Comparison:
    """Hold what a kernel returned against the truth.

    Parameters
    ----------
    truth
        Of the inputs that the kernel was given.
    outputs
        What it returned, in order; on any device, in any layout.
    allow_reduced_precision
        Whether errors of the size of tf32 or half accumulation pass.

    Returns
    -------
    Comparison
        Of the worst output; ``detail`` is one sentence about where and by how much.
    """
    if len(outputs) != len(truth.outputs):
        detail = f"the kernel returned {len(outputs)} outputs, expected {len(truth.outputs)}"
        return Comparison(False, Reason.WRONG_SHAPE, detail, math.inf)
    results = [
        compare_output(truth, index, given, allow_reduced_precision=allow_reduced_precision)
        for index, given in enumerate(outputs)
    ]
    error = max(result.error for result in results)
    worst = min(results, key=lambda result: _SEVERITY.index(result.reason))
    return Comparison(worst.passed, worst.reason, worst.detail, error)


_SEVERITY = [
    Reason.WRONG_SHAPE,
    Reason.WRONG_DTYPE,
    Reason.NON_FINITE,
    Reason.MISMATCH,
    Reason.REDUCED_PRECISION,
    None,
]


def compare_output(truth: Truth, index: int, given: Tensor, *, allow_reduced_precision: bool = False) -> Comparison:
    """Hold one of several outputs against the truth; see `compare`."""
    name, expected = f"out[{index}]" if len(truth.outputs) > 1 else "out", truth.outputs[index]
    if tuple(given.shape) != expected.size:
        return Comparison(False, Reason.WRONG_SHAPE, describe_size(name, given, expected.size), math.inf)
    if given.dtype != expected.dtype:
        detail = f"{name} is {_plain(given.dtype)}, expected {_plain(expected.dtype)}"
        return Comparison(False, Reason.WRONG_DTYPE, detail, math.inf)
    if given.numel() == 0:
        return Comparison(True)
    given = given.detach().to(expected.value.device)
    if given.is_complex():
        given = torch.view_as_real(given.resolve_conj())
    if expected.exact:
        wrong = (given != expected.value) & (given != expected.framework)
        if not wrong.any():
            return Comparison(True)
        return Comparison(False, Reason.MISMATCH, describe_elements(name, given, expected.value, wrong), math.inf)
    return _compare_floats(name, expected, given, _known_bounds(truth, index), allow_reduced_precision)


_KNOWN: WeakKeyDictionary[Truth, dict[int, Bounds]] = WeakKeyDictionary()


def _known_bounds(truth: Truth, index: int) -> Bounds:
    """Return an output's bounds, worked out once: a problem is put to many kernels, and to one of them many times."""
    known = _KNOWN.setdefault(truth, {})
    if index not in known:
        known[index] = bounds(truth.outputs[index], truth)
    return known[index]


def _compare_floats(name: str, expected: Output, given: Tensor, limit: Bounds, allow_reduced: bool) -> Comparison:
    y, n = given.double(), expected.framework.double()
    # Where the truth is no number and PyTorch's answer is (a saturating conversion, say), PyTorch's is the one to meet.
    t = torch.where(expected.value.isfinite() | ~n.isfinite(), expected.value, n)
    lost = ~_class_is_right(y, t, n, limit.element, expected.framework.dtype)
    error = _error(y, torch.where(t.isfinite(), t, 0.0), t)
    off = error.abs() > limit.element
    some_lost = bool(lost.any())  # asked once: on a device, each question waits for it
    if some_lost and ((lost & ~y.isfinite()).any() or not off.any()):
        return Comparison(False, Reason.NON_FINITE, describe_class(name, y, t, lost), math.inf)

    target = torch.where(t.isfinite() & y.isfinite(), t, 0.0)
    length = float(target.norm())
    size, bias = float(error.norm()), abs(_along(error, target, length))
    share = max(float((error.abs() / limit.element).nan_to_num(0.0, posinf=math.inf).max()), 0.0)
    share = max(share, _ratio(size, limit.norm), _ratio(bias, limit.bias))
    if share <= 1 and not some_lost:
        return Comparison(True, error=share)

    own = _error(n, torch.where(t.isfinite(), t, 0.0), t)
    if not some_lost and _is_reduced(error, own, target, limit):
        if allow_reduced:
            return Comparison(True, error=_ratio(size, limit.reduced_norm))
        detail = describe_whole(name, size, length, float(own.norm()), "accumulate in float32 and keep inputs whole")
        return Comparison(False, Reason.REDUCED_PRECISION, detail, share)
    if some_lost or off.any():
        detail = describe_elements(name, y, t, off | lost, limit.element)
    else:
        hint = "no element is far off alone: look for a wrong factor or a lossy intermediate"
        detail = describe_whole(name, size, length, float(own.norm()), hint)
    return Comparison(False, Reason.MISMATCH, detail, share)


def _class_is_right(y: Tensor, t: Tensor, n: Tensor, allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """Tell where y is a number, an infinity or a nan as it should be."""
    rounded = t.to(dtype).double()
    finite = y.isfinite()
    same = (finite & t.isfinite()) | (y.isnan() & rounded.isnan()) | (y == rounded)
    # PyTorch's own overflow is nobody's fault; its own nan is one where the truth is a number of the dtype.
    same |= (y.isinf() & (y == n)) | (y.isnan() & n.isnan() & ~rounded.isfinite())
    # An honest error may carry a value near the end of the range over it.
    over = t.abs() + allowed > torch.finfo(dtype).max
    return same | (y.isinf() & t.isfinite() & over & (torch.sign(y) == torch.sign(t)))


def _is_reduced(error: Tensor, own: Tensor, t: Tensor, limit: Bounds) -> bool:
    """Tell whether errors beyond the bounds look like those of a less precise arithmetic, and of nothing else."""
    if bool((error.abs() > limit.reduced_element).any()) or float(error.norm()) > limit.reduced_norm:
        return False
    if error.numel() < 8:
        return True  # too few to say what they look like
    spread = float(error.abs().median()) > 2 * float(own.abs().median())
    length, size = float(t.norm()), float(error.norm())
    proportional = abs(_along(error, t, length)) > 0.9 * size
    return spread and not proportional


def _error(y: Tensor, finite_t: Tensor, t: Tensor) -> Tensor:
    """Return y − t where both are numbers, and zero elsewhere."""
    wide = y.double()
    return torch.where(wide.isfinite() & t.isfinite(), wide - finite_t, 0.0)


def _along(error: Tensor, t: Tensor, length: float) -> float:
    """Return the component of the error along t."""
    return float((error * (t / length)).sum()) if length > 0 else 0.0


def spacing(t: Tensor, kind: torch.finfo) -> Tensor:
    """Return the spacing of a dtype's numbers at each t, above and at the smallest."""
    _, exponent = torch.frexp(t)  # |t| = m·2**exponent with m in [1/2, 1)
    spacing = torch.ldexp(torch.full_like(t, kind.eps), exponent - 1)
    return torch.where(t == 0, 0.0, spacing).clamp_min(_smallest(kind))


def _smallest(kind: torch.finfo) -> float:
    """Return the smallest number above zero that hardware keeps.

    Formats with eight exponent bits or more are commonly flushed to zero below their smallest normal number.
    """
    return float(kind.tiny if kind.tiny < 1e-30 else kind.tiny * kind.eps)


def _ratio(value: float, limit: float) -> float:
    return value / limit if limit > 0 else (math.inf if value > 0 else 0.0)


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
