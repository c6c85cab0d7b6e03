"""Tells what an entry returns apart before anything looks at it: what is not torch's own may compute when read."""

from __future__ import annotations

import torch

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_METHODS = frozenset(dir(torch.Tensor))


def outputs_of(result: object) -> tuple[object, ...]:
    """Return what an entry returned, one by one. A sequence that unpacks itself in its own way is left whole."""
    for kind in (tuple, list):
        if isinstance(result, kind):
            own = any(getattr(type(result), name) is not getattr(kind, name) for name in ("__iter__", "__getitem__"))
            return (result,) if own else tuple(result)
    return (result,)


def is_deferred(output: object) -> bool:
    """Whether reading an output may run code of the kernel's: a class of its own, or methods of its own on a tensor."""
    if not isinstance(output, torch.Tensor):
        return isinstance(output, tuple | list)
    return type(output) not in _PLAIN or not _METHODS.isdisjoint(vars(output))
