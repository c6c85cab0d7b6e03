"""What an operator of the framework is, by its schema and torch's account: what it writes, returns, allocates."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_map_only


@cache
def is_composite(func: Any) -> bool:
    """Return whether torch defines the operator by others. One meets it here only below autograd."""
    return func.namespace == "aten" and torch._C._dispatch_has_kernel_for_dispatch_key(
        func.name(), "CompositeImplicitAutograd"
    )


def is_contraction(func: Any) -> bool:
    """Return whether torch's own account of operations knows the operator."""
    from torch.utils.flop_counter import flop_registry

    return func.overloadpacket in flop_registry


def flops_of(func: Any, args: Any, kwargs: Any, made: Any) -> float:
    """Return the operations of a contraction; 0 for overloads that torch's account does not foresee."""
    from torch.utils.flop_counter import flop_registry

    # Its counters take the operands in order, and would take an output's dtype for an operand.
    operands = [argument for argument in args if not isinstance(argument, torch.dtype)]
    options = {name: value for name, value in kwargs.items() if name != "out"}
    try:
        return float(flop_registry[func.overloadpacket](*operands, **options, out_val=made))
    except Exception:
        return 0.0


def allocated_by(args: Any) -> int:
    """Return the elements that an allocating operator is asked for: those of a size, or of the tensor to be like."""
    for value in reversed(args[:2]):
        if isinstance(value, list | tuple) and all(isinstance(length, int) for length in value):
            return math.prod(value)
    return args[0].numel() if args and isinstance(args[0], torch.Tensor) else 1


def tensors_in(*values: Any) -> list[Any]:
    """Return the tensors among an operator's arguments or results, in order.

    These are nested in lists, tuples and dictionaries at most; torch's own walk over trees of any kind takes longer
    than the operator.
    """
    found: list[Any] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += tensors_in(*value)
        elif isinstance(value, dict):
            found += tensors_in(*value.values())
    return found


def written_by(func: Any, args: Any, kwargs: Any) -> list[Any]:
    """Return the tensors that the operator's schema says it writes to."""
    places = _writes(func)
    return tensors_in(*(args[index] if index < len(args) else kwargs.get(name) for index, name in places))


@cache
def _writes(func: Any) -> tuple[tuple[int, str], ...]:
    """Return place and name of the arguments that an operator writes to."""
    return tuple(
        (index, argument.name)
        for index, argument in enumerate(func._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )


def returned_by(func: Any, written: list[Any]) -> Any:
    """Return what an operator that writes to its arguments returns: those, or nothing."""
    count = len(func._schema.returns)
    if count == 1:
        return written[0]
    return tuple(written[:count]) if count else None


def as_meta(value: Any) -> Any:
    """Return the same with every tensor replaced by one of its form without data."""

    def meta(tensor: torch.Tensor) -> torch.Tensor:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")

    return tree_map_only(torch.Tensor, meta, value)
