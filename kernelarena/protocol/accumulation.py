"""How many terms the longest sum of a computation has: what rounding errors grow with.

The length is observed, not declared: a dispatch mode watches the ATen operators that a reference executes. Where an
operator is not known, its length is overestimated, which makes a tolerance in float32 units a little wider and never
fails an honest kernel. The same goes for sums of equal terms, whose rounding errors all point one way: those of matrix
products are seen as they are, those of other operators are presumed where a tensor repeats one value along its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

_MATRIX_PRODUCTS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "vdot": 0, "addmm": 1, "addmv": 1, "baddbmm": 1, "addbmm": 1}
"""Position of the argument whose last dimension is summed over."""
_MOVES = frozenset({
    "_to_copy", "_unsafe_view", "amax", "amin", "aminmax", "argmax", "argmin", "argsort", "bincount", "cat",
    "clone", "constant_pad_nd", "copy", "embedding", "empty", "empty_like", "flip", "full_like", "gather",
    "index", "index_select", "kthvalue", "lift_fresh", "max", "median", "min", "mode", "new_empty", "new_full",
    "new_ones", "new_zeros", "nonzero", "one_hot", "ones_like", "repeat", "repeat_interleave", "roll", "scatter",
    "searchsorted", "set", "slice_scatter", "sort", "stack", "topk", "tril", "triu", "unique", "where",
    "zeros_like",
})  # fmt: skip
"""Operators that are not tagged pointwise and yet add nothing up."""


class ReductionLength(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While active, keeps in ``longest`` the number of terms of the longest sum seen so far (at least 1).

    ``repeating`` is the same of the sums whose terms are equal, or may be.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, which takes seconds, for the first operator

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.longest = self.repeating = 1

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the operator and note how long a sum it takes."""
        result = func(*args, **(kwargs or {}))
        terms = summed_terms(func, args, result)
        self.longest = max(self.longest, terms)
        if terms > self.repeating and _adds_equal_terms(func, args):
            self.repeating = terms
        return result


def summed_terms(func: torch._ops.OpOverload, args: Sequence[Any], result: Any) -> int:
    """Return the number of terms of the longest sum in a call of an ATen operator; 1 where it adds nothing up."""
    name = _name(func)
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    if torch.Tag.pointwise in func.tags or func.is_view or name in _MOVES or not tensors:
        return 1
    if name in _MATRIX_PRODUCTS:
        return int(args[_MATRIX_PRODUCTS[name]].shape[-1])
    if "scaled_dot_product" in name or "attention" in name:
        query, key = args[0], args[1]
        return max(int(query.shape[-1]), int(key.shape[-2]))
    if "convolution" in name:
        return int(args[1][0].numel())
    outputs = [one for one in (result if isinstance(result, list | tuple) else [result]) if isinstance(one, Tensor)]
    if not outputs:
        return 1  # a number that host code reads
    terms = max(tensor.numel() for tensor in tensors)
    kept = max(output.numel() for output in outputs)
    if kept < terms:
        return terms // max(kept, 1)
    return max((size for tensor in tensors for size in tensor.shape), default=1)


def is_repeated(value: Tensor, axis: int = -1) -> bool:
    """Whether at least half of the elements equal their neighbour along an axis, and not because they are zero."""
    if value.dim() < -axis or value.shape[axis] < 2 or not value.numel():
        return False
    wide = value if value.is_complex() else value.float()
    length = value.shape[axis] - 1
    here, there = wide.narrow(axis, 1, length), wide.narrow(axis, 0, length)
    return bool(((here == there) & (here != 0)).float().mean() >= 0.5)


def _adds_equal_terms(func: torch._ops.OpOverload, args: Sequence[Any]) -> bool:
    first = _MATRIX_PRODUCTS.get(_name(func))
    if first is not None:
        a, b = args[first : first + 2]
        return is_repeated(a) and is_repeated(b, -2 if b.dim() > 1 else -1)
    return any(is_repeated(arg) for arg in args if isinstance(arg, Tensor) and _is_inexact(arg))


def _is_inexact(value: Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def _name(func: torch._ops.OpOverload) -> str:
    return func._schema.name.split("::")[-1].rstrip("_")
