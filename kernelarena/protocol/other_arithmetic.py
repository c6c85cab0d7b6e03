"""A reference evaluated in another arithmetic than PyTorch's: sums in another order or precision, or cut short.

Some faults of kernels cannot be made from a right answer alone: half-precision accumulation, a reduction that is one
term short, products in tf32, an intermediate that is stored too narrowly. They are made here by running the task's own
reference under a dispatch mode that takes its operators apart, as far as PyTorch's own decompositions go, and does
sums and matrix products itself. The same machinery gives honest answers in another order of summation.

Where an operator cannot be taken apart it runs as it is; :attr:`OtherArithmetic.used` tells whether anything was
altered at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from kernelarena.protocol.accumulation import summed_terms

STEPS = 1024
"""Terms of the longest chain. Longer sums are chains of partial sums, as a kernel's are that loops over tiles."""
_TF32_LOST = 13
"""Significand bits of float32 that tf32 lacks."""


@dataclass(frozen=True)
class Rules:
    """What is done otherwise."""

    accumulator: torch.dtype | None = None
    """Sums are chains, one term after the other, rounded to this dtype at every step."""
    one_short: bool = False
    """Sums leave out their last term."""
    narrow: torch.dtype | None = None
    """Results of operators that are wider are rounded to this dtype."""
    tf32: bool = False
    """Matrix products of float32 tensors see their inputs rounded to tf32."""


class OtherArithmetic(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While active, operators follow ``rules``."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, which takes seconds, for the first operator

    def __init__(self, rules: Rules) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.rules = rules
        self.used = False
        """Whether any operator was computed otherwise than by PyTorch."""

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the operator, or what stands in for it."""
        more = dict(kwargs or {})
        instead = _INSTEAD.get(func._schema.name)
        if instead is not None and _is_inexact(args[0]):
            result = instead(self, *args, **more)
            if result is not None:
                return self._narrowed(result)
        result = func(*args, **more)
        if func._schema.is_mutable or func.is_view:
            return result
        if summed_terms(func, args, result) > 1 and (parts := _decomposition(func)) is not None:
            with self:
                return parts(*args, **more)
        return self._narrowed(result)

    def _narrowed(self, result: Any) -> Any:
        narrow = self.rules.narrow
        if narrow is None:
            return result
        if isinstance(result, tuple | list):
            return type(result)(self._narrowed(one) for one in result)
        if not _is_inexact(result) or torch.finfo(result.dtype).eps >= torch.finfo(narrow).eps:
            return result
        self.used = True
        return result.to(narrow).to(result.dtype)

    def sum_of(self, terms: Tensor) -> Tensor | None:
        """Return the sum over the last dimension by the rules, or None where they leave sums alone."""
        if self.rules.one_short:
            self.used = True
            return terms[..., :-1].sum(-1)
        if self.rules.accumulator is None:
            return None
        self.used = True
        total = torch.zeros(terms.shape[:-1], dtype=self.rules.accumulator, device=terms.device)
        for part in _parts(terms, self.rules.accumulator).unbind(-1):
            total = total + part
        return total.to(terms.dtype)

    def running_sum_of(self, terms: Tensor) -> Tensor | None:
        """Return the sums over the first 1, 2, … terms of the last dimension by the rules."""
        if self.rules.one_short:
            self.used = True
            return torch.cat([terms[..., :-1], torch.zeros_like(terms[..., -1:])], -1).cumsum(-1)
        accumulator = self.rules.accumulator
        if accumulator is None:
            return None
        self.used = True
        length = terms.shape[-1]
        size = -(-length // STEPS)
        padded = _cut(terms, size)
        inner = padded.cumsum(-1).to(accumulator)
        carry = torch.zeros(terms.shape[:-1], dtype=accumulator, device=terms.device)
        blocks = []
        for block in inner.unbind(-2):
            blocks.append(carry[..., None] + block)
            carry = carry + block[..., -1]
        return torch.stack(blocks, -2).flatten(-2)[..., :length].to(terms.dtype)

    def product_of(self, a: Tensor, b: Tensor) -> Tensor | None:
        """Return the matrix product ``a @ b`` by the rules, or None where they leave products alone."""
        if self.rules.tf32 and a.dtype is torch.float32:
            self.used = True
            return to_tf32(a) @ to_tf32(b)
        if self.rules.one_short:
            self.used = True
            return a[..., :-1] @ b[..., :-1, :]
        accumulator = self.rules.accumulator
        if accumulator is None:
            return None
        self.used = True
        length = a.shape[-1]
        size = -(-length // STEPS)
        wide_a, wide_b = a.to(accumulator).float(), b.to(accumulator).float()
        total = torch.zeros((*a.shape[:-1], b.shape[-1]), dtype=accumulator, device=a.device)
        for start in range(0, length, size):
            stop = start + size
            total = total + (wide_a[..., start:stop] @ wide_b[..., start:stop, :]).to(accumulator)
        return total.to(a.dtype)


def to_tf32(x: Tensor) -> Tensor:
    """Round float32 to ten explicit significand bits, ties away from zero; specials stay."""
    half, mask = 1 << (_TF32_LOST - 1), ~((1 << _TF32_LOST) - 1)
    rounded = ((x.contiguous().view(torch.int32) + half) & mask).view(torch.float32)
    return torch.where(x.isfinite(), rounded, x)


@contextmanager
def composed() -> Iterator[None]:
    """Have fused attention run as the products and the softmax that it consists of."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(SDPBackend.MATH):
        yield


def _parts(terms: Tensor, dtype: torch.dtype) -> Tensor:
    """Cut a long last dimension into at most `STEPS` partial sums, in ``dtype``."""
    size = -(-terms.shape[-1] // STEPS)
    if size <= 1:
        return terms.to(dtype)
    wide = terms.to(torch.promote_types(terms.dtype, torch.float32))
    return _cut(wide, size).sum(-1).to(dtype)


def _cut(terms: Tensor, size: int) -> Tensor:
    """Split the last dimension into pieces of ``size``, the last one filled up with zeros."""
    padded = torch.nn.functional.pad(terms, (0, -terms.shape[-1] % size))
    return padded.reshape(*terms.shape[:-1], -1, size)


def _is_inexact(value: object) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _decomposition(func: torch._ops.OpOverload) -> Callable[..., Any] | None:
    from torch._decomp import decomposition_table

    return decomposition_table.get(func)


def _last(x: Tensor, dim: int | Sequence[int] | None) -> tuple[Tensor, tuple[int, ...]]:
    """Bring the dimensions that are summed over to the end, as one; return them as well, none negative."""
    dims = [dim] if isinstance(dim, int) else list(dim or range(x.dim()))
    axes = tuple(sorted(axis % max(x.dim(), 1) for axis in dims))
    kept = [axis for axis in range(x.dim()) if axis not in axes]
    size = math.prod(x.shape[axis] for axis in axes) if x.dim() else 1
    return x.permute(*kept, *axes).reshape([*(x.shape[axis] for axis in kept), size]), axes


def _kept(result: Tensor, axes: tuple[int, ...], keepdim: bool) -> Tensor:
    if keepdim:
        for axis in axes:
            result = result.unsqueeze(axis)
    return result


def _sum(
    mode: OtherArithmetic, x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor | None:
    terms, axes = _last(x if dtype is None else x.to(dtype), dim)
    total = mode.sum_of(terms)
    return None if total is None else _kept(total, axes, keepdim)


def _mean(
    mode: OtherArithmetic, x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor | None:
    terms, axes = _last(x if dtype is None else x.to(dtype), dim)
    total = mode.sum_of(terms)
    return None if total is None else _kept(total / max(terms.shape[-1], 1), axes, keepdim)


def _var_mean(
    mode: OtherArithmetic,
    x: Tensor,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor] | None:
    if isinstance(dim, bool):  # the overload over everything takes `unbiased` in this place
        dim, unbiased = None, dim
    terms, axes = _last(x, dim)
    length = terms.shape[-1]
    total = mode.sum_of(terms)
    if total is None:
        return None
    mean = total / max(length, 1)
    squares = mode.sum_of((terms - mean[..., None]).square())
    assert squares is not None
    variance = squares / max(length - (int(unbiased) if correction is None else correction), 0)
    return _kept(variance, axes, keepdim), _kept(mean, axes, keepdim)


def _var(mode: OtherArithmetic, x: Tensor, *args: Any, **more: Any) -> Tensor | None:
    both = _var_mean(mode, x, *args, **more)
    return None if both is None else both[0]


def _cumsum(mode: OtherArithmetic, x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor | None:
    if not x.dim():
        return None
    sums = mode.running_sum_of((x if dtype is None else x.to(dtype)).movedim(dim, -1))
    return None if sums is None else sums.movedim(-1, dim)


def _product(mode: OtherArithmetic, a: Tensor, b: Tensor) -> Tensor | None:
    return mode.product_of(a, b)


_INSTEAD: dict[str, Callable[..., Any]] = {
    "aten::sum": _sum,
    "aten::mean": _mean,
    "aten::var_mean": _var_mean,
    "aten::var": _var,
    "aten::cumsum": _cumsum,
    "aten::mm": _product,
    "aten::bmm": _product,
}
"""By operator, whatever the overload."""
