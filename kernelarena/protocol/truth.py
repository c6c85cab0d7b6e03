"""What a trial's answer is, how well PyTorch does on it, and how sensitive it is to rounding.

The three measurements that :mod:`kernelarena.protocol.tolerance` builds its bounds from, for each output:

t  the reference in float64, on the kernel's inputs widened exactly;
n  the reference as PyTorch evaluates it at the kernel's dtype on the same device;
C  the *conditioning*: by how much t moves when each floating-point input is multiplied by 1 ± ε, signs at random,
   ε being the unit roundoff of the type that an honest kernel computes in (float32; float64 for float64 inputs).
   This is the backward-error view of rounding (Higham 2002, chapter 1): a stable algorithm returns the exact answer
   to inputs perturbed by a few ε, so its error is a small multiple of C whatever order it computes in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from kernelarena.errors import InputError
from kernelarena.protocol.accumulation import ReductionLength, is_repeated

Reference = Callable[..., Any]
SAMPLES_PER_ROW = 8
"""Short rows are perturbed several times, so that no row's conditioning rests on one lucky draw."""
HALF_UNIT = 2.0**-11
"""Unit roundoff of float16, and of tf32, which has as many significand bits."""


@dataclass(frozen=True)
class Output:
    """One output of the reference. Complex ones are held as pairs of reals."""

    dtype: torch.dtype
    """What the kernel must return."""
    size: tuple[int, ...]
    value: Tensor
    """t, in float64; integers and booleans keep their dtype. Shape ``size``, for complex dtypes ``(*size, 2)``."""
    framework: Tensor
    """n, in ``dtype`` (the real one of a complex dtype); same shape as ``value``."""
    conditioning: Tensor
    """Largest C of each row, float64: ``value`` reduced over its last dimension, kept as 1; or over all of it where
    there is but one."""
    conditioning_norm: float
    """‖C‖₂, the largest over the draws."""
    single: Tensor
    """Largest error of each row when PyTorch evaluates the reference in float32 (or at the inputs' dtype, if wider)."""
    single_norm: float
    """Its Euclidean norm."""

    @property
    def exact(self) -> bool:
        """Whether only the very value will do."""
        return not self.value.is_floating_point()


@dataclass(frozen=True, eq=False)
class Truth:
    """The answers of one trial and what the tolerance needs to know about them. Each is equal to itself alone."""

    outputs: tuple[Output, ...]
    terms: int
    """Terms of the longest sum in the reference; what honest rounding grows with."""
    equal_terms: int
    """Terms of the longest sum of equal ones, whose rounding errors all point one way."""
    repeated: bool
    """Whether rows of an input hold one value over and over, and so say little about the numbers that go into them."""
    unit: float
    """ε: unit roundoff of the type that an honest kernel computes in."""
    coarse_unit: float
    """Unit roundoff of the least precise arithmetic that is still about numbers: the inputs' own, or half's."""
    precision: str
    """What t was evaluated in: ``float64``, or ``float32`` where the reference does not run in float64."""


def truth(reference: Reference, inputs: Mapping[str, Any], *, seed: int) -> Truth:
    """Evaluate the reference for one trial.

    Parameters
    ----------
    reference
        Plain PyTorch; called with ``**inputs`` several times, in float64 and as they are.
    inputs
        Tensors and scalars by name. They are not modified, whatever the reference does. An empty 1-d tensor stands
        for a dtype only and is passed as it is.
    seed
        Of the perturbation's signs.

    Returns
    -------
    Truth
        On the device of the inputs.

    Raises
    ------
    InputError
        If the reference cannot be evaluated, or returns something other than tensors.
    torch.OutOfMemoryError
        If the device has not the memory that it takes.
    """
    precision = "float64"
    wide = widened(inputs, torch.float64)
    try:
        values, sums = _observed(reference, wide)
    except torch.OutOfMemoryError:
        raise  # somebody took the device's memory: no reason for a coarser truth
    except Exception:  # a task's code: anything may come out of it, and float32 may still work
        precision, wide = "float32", widened(inputs, torch.float32)
        try:
            values, sums = _observed(reference, wide)
        except InputError:
            raise
        except Exception as error:
            problem = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"the task's reference fails on its own inputs: {problem}") from error
    unit = 2.0**-53 if any(_real(tensor.dtype) is torch.float64 for tensor in _floating(inputs)) else 2.0**-24
    coarse = max([HALF_UNIT, *(torch.finfo(tensor.dtype).eps / 2 for tensor in _floating(inputs))])
    framework = _framework(reference, inputs, values)
    values = [_flat(value.double() if value.is_floating_point() else value) for value in values]
    ranges = [reach(torch.finfo(_real(native.dtype))) if _is_inexact(native) else math.inf for native in framework]
    conditioning, norms = _conditioning(reference, inputs, wide, values, ranges, unit=unit, seed=seed)
    single = _single(reference, inputs, framework)
    outputs = []
    for index, (value, native) in enumerate(zip(values, framework, strict=True)):
        deviation = _shift(_flat(single[index]), value, ranges[index])
        outputs.append(
            Output(
                dtype=native.dtype,
                size=tuple(native.shape),
                value=value,
                framework=_flat(native),
                conditioning=conditioning[index],
                conditioning_norm=norms[index],
                single=row_max(deviation),
                single_norm=float(deviation.norm()),
            )
        )
    return Truth(
        outputs=tuple(outputs),
        terms=sums.longest,
        equal_terms=sums.repeating,
        repeated=any(is_repeated(tensor) for tensor in _floating(inputs)),
        unit=unit,
        coarse_unit=coarse,
        precision=precision,
    )


def row_max(values: Tensor) -> Tensor:
    """Return the largest of each row, kept as a dimension of 1.

    A row is the last dimension; a tensor of at most one dimension is one row. Of no values, the largest is 0.
    """
    if values.numel() == 0:
        return values.new_zeros([1] * values.dim())
    return values.amax(-1, keepdim=True) if values.dim() > 1 else values.max().reshape([1] * values.dim())


def reach(kind: torch.finfo) -> float:
    """Return how large a number may be that a rounding error can bring into the dtype's range."""
    return float(kind.max) * (1 + float(kind.eps))


def in_range(value: Tensor, largest: float) -> Tensor:
    """Tell which numbers a dtype can hold: what overflows it is no scale to measure errors by."""
    return value.abs() <= largest  # false for nan


def _observed(reference: Reference, inputs: Mapping[str, Any]) -> tuple[list[Tensor], ReductionLength]:
    with ReductionLength() as sums:
        values = evaluate(reference, inputs)
    return values, sums


def evaluate(reference: Reference, inputs: Mapping[str, Any]) -> list[Tensor]:
    """Call the reference on copies of its inputs, so that one that works in place harms nobody.

    Returns
    -------
    list of Tensor
        Its outputs, one or more.

    Raises
    ------
    InputError
        If it returns something other than tensors.
    """
    copies = {name: value.clone() if isinstance(value, Tensor) else value for name, value in inputs.items()}
    wide = any(value.dtype is torch.float64 for value in copies.values() if isinstance(value, Tensor))
    with torch.no_grad(), _careful(torch.float64 if wide else torch.float32):
        result = reference(**copies)
    values = list(result) if isinstance(result, tuple | list) else [result]
    if not values or not all(isinstance(value, Tensor) for value in values):
        raise InputError("the task's reference must return a tensor or a tuple of tensors")
    return values


@contextmanager
def _careful(default: torch.dtype) -> Iterator[None]:
    """Make constants that the reference creates as wide as its inputs, and keep float32 products in float32."""
    before, matmul = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    torch.set_default_dtype(default)
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_default_dtype(before)
        torch.set_float32_matmul_precision(matmul)


def _framework(reference: Reference, inputs: Mapping[str, Any], values: list[Tensor]) -> list[Tensor]:
    """Return n; where PyTorch has no kernel for the dtype on this device, what it gives in float32, rounded."""
    try:
        native = evaluate(reference, inputs)
    except Exception:  # typically NotImplementedError or RuntimeError, but the code is a task's
        native = evaluate(reference, widened(inputs, torch.float32))
        for index, dtype in enumerate(_declared(reference, inputs, native)):
            native[index] = native[index].to(dtype)
    if [one.shape for one in native] != [one.shape for one in values]:
        raise InputError("the task's reference returns other shapes in float64 than at the task's dtype")
    return native


def _declared(reference: Reference, inputs: Mapping[str, Any], wide: list[Tensor]) -> list[torch.dtype]:
    """Return the dtypes that the reference gives at the inputs' own, without computing anything if possible."""
    meta = {name: value.to("meta") if isinstance(value, Tensor) else value for name, value in inputs.items()}
    try:
        return [one.dtype for one in evaluate(reference, meta)]
    except Exception:  # an operator without a meta implementation: floats then take the dtype of the first input
        first = next((tensor.dtype for tensor in _floating(inputs)), torch.float32)
        return [first if one.dtype is torch.float32 else one.dtype for one in wide]


def _conditioning(
    reference: Reference,
    inputs: Mapping[str, Any],
    wide: Mapping[str, Any],
    values: list[Tensor],
    ranges: list[float],
    *,
    unit: float,
    seed: int,
) -> tuple[list[Tensor], list[float]]:
    rows = [torch.zeros_like(row_max(value), dtype=torch.float64) for value in values]
    norms = [0.0] * len(values)
    inexact = [value for value in values if value.is_floating_point() and value.numel()]
    if not inexact or not _floating(inputs):
        return rows, norms
    shortest = min(value.shape[-1] if value.dim() > 1 else value.numel() for value in inexact)
    draws = min(max(math.ceil(SAMPLES_PER_ROW / shortest), 2), SAMPLES_PER_ROW)
    generator = torch.Generator(device=_floating(inputs)[0].device).manual_seed(seed)
    for _ in range(draws):
        nearby = {
            name: _perturbed(value, unit, generator) if is_value(value) else value for name, value in wide.items()
        }
        for index, moved in enumerate(evaluate(reference, nearby)):
            if values[index].is_floating_point():
                shift = _shift(_flat(moved), values[index], ranges[index])
                rows[index] = torch.maximum(rows[index], row_max(shift))
                norms[index] = max(norms[index], float(shift.norm()))
    return rows, norms


def _single(reference: Reference, inputs: Mapping[str, Any], framework: list[Tensor]) -> list[Tensor]:
    """Return the reference evaluated in float32, which is n where the inputs are no narrower."""
    if all(torch.finfo(tensor.dtype).bits >= 32 for tensor in _floating(inputs)):
        return framework
    try:
        return evaluate(reference, widened(inputs, torch.float32))
    except Exception:  # the code is a task's; without this evaluation the bounds only lose some room
        return framework


def _shift(other: Tensor, value: Tensor, largest: float) -> Tensor:
    """Return |other − t|, zero where either is no number that the dtype can hold."""
    wide = value.double()
    shift = (other.double() - wide).abs()
    return torch.where(shift.isfinite() & in_range(wide, largest), shift, 0.0)


def _perturbed(value: Tensor, unit: float, generator: torch.Generator) -> Tensor:
    signs = torch.randint(0, 2, value.shape, generator=generator, device=value.device, dtype=torch.int8)
    return value * (1 + (2 * signs - 1).to(_real(value.dtype)) * unit)


def widened(inputs: Mapping[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    """Return the inputs with floating-point tensors as wide as ``dtype``; wider ones, and all else, stay."""

    def widen(value: Any) -> Any:
        if not is_value(value) or value.dtype.itemsize > dtype.itemsize * (1 + value.is_complex()):
            return value
        return value.to(_complex_of(dtype) if value.is_complex() else dtype)

    return {name: widen(value) for name, value in inputs.items()}


def is_value(value: Any) -> bool:
    """Whether it is a floating-point tensor with something in it; an empty vector only stands for its dtype."""
    return isinstance(value, Tensor) and _is_inexact(value) and value.shape != (0,)


def _is_inexact(value: Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def _floating(inputs: Mapping[str, Any]) -> list[Tensor]:
    return [value for value in inputs.values() if is_value(value)]


def _flat(value: Tensor) -> Tensor:
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


def _real(dtype: torch.dtype) -> torch.dtype:
    return dtype.to_real() if dtype.is_complex else dtype


def _complex_of(dtype: torch.dtype) -> torch.dtype:
    return dtype.to_complex()
