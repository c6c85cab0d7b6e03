"""Products with an output dtype of their own, ``torch.mm(a, b, out_dtype=torch.float32)``: what devices have alone.

A device multiplies the narrow factors exactly and sums in float32, which it keeps where others round to the factors'
dtype. On the host that is the product of the widened factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

_OVERLOADS = {"dtype": "default", "dtype_out": "out"}
"""Those with an output dtype, and what computes the same of factors that have it already."""


def is_widening(func: Any) -> bool:
    """Return whether an overload, such as ``aten::mm.dtype``, has an output dtype of its own."""
    return func._overloadname in _OVERLOADS and any(one.name == "out_dtype" for one in func._schema.arguments)


def widened(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return what an operator with an output dtype of its own gives on a device.

    Parameters
    ----------
    func
        The overload; :func:`is_widening`.
    args, kwargs
        Its arguments.
    """
    named = dict(kwargs)
    place = [argument.name for argument in func._schema.arguments].index("out_dtype")
    dtype = named.pop("out_dtype") if "out_dtype" in named else args[place]
    operands = [value.to(dtype) if isinstance(value, torch.Tensor) else value for value in args[:place]]
    compute = getattr(func.overloadpacket, _OVERLOADS[func._overloadname])
    return compute(*operands, **named)
