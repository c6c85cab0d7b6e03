"""How many terms the longest sum of a computation has: what rounding errors grow with.

The length is observed, not declared: a dispatch mode watches the ATen operators that a reference executes. Where an
operator is not known, its length is overestimated, which makes a tolerance in float32 units a little wider and never
fails an honest kernel.
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
    """While active, keeps in ``longest`` the number of terms of the longest sum seen so far (at least 1)."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, which takes seconds, for the first operator

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.longest = 1

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the operator and note how long a sum it takes."""
        result = func(*args, **(kwargs or {}))
        self.longest = max(self.longest, _length(func, args, result))
        return result


def _length(func: torch._ops.OpOverload, args: Sequence[Any], result: Any) -> int:
    name = func._schema.name.split("::")[-1].rstrip("_")
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
    outputs = [result] if isinstance(result, Tensor) else [one for one in result or () if isinstance(one, Tensor)]
    terms = max(tensor.numel() for tensor in tensors)
    kept = max((output.numel() for output in outputs), default=1)
    if kept < terms:
        return terms // max(kept, 1)
    return max((size for tensor in tensors for size in tensor.shape), default=1)
