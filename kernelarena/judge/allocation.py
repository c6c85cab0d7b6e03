"""Serves allocations of a kernel's host code from memory that the judge poisoned and looks at afterwards."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernelarena.judge.arena import Allocator
from kernelarena.platforms.persona.observer import Observer

_aten = torch.ops.aten
_ALLOCATIONS = {
    _aten.empty: False, _aten.empty_like: False, _aten.empty_strided: False, _aten.new_empty: False,
    _aten.new_empty_strided: False, _aten.empty_permuted: False,
    _aten.zeros: True, _aten.zeros_like: True, _aten.new_zeros: True, _aten.ones: True, _aten.ones_like: True,
    _aten.new_ones: True, _aten.full: True, _aten.full_like: True, _aten.new_full: True,
}  # fmt: skip
"""Operators that allocate, and whether they also fill."""


class ArenaMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Replaces what allocating operators return.

    Parameters
    ----------
    allocator
        Hands the memory out.
    poison
        Fills what did not fit into the arena, where it is.
    observer
        Told of the memory that takes the place of what the operator made.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, which takes seconds, for the first operator

    def __init__(self, allocator: Allocator, poison: int, observer: Observer) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._observer = observer
        self._allocator = allocator
        self._poison = poison

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        fill = _ALLOCATIONS.get(func.overloadpacket)
        if fill is None or not isinstance(made, torch.Tensor) or made.layout != torch.strided or not made.numel():
            return made
        if made.device != self._allocator.memory.device:
            return made
        placed = self._allocator.allocate(made.shape, made.stride(), made.dtype)
        if placed is not None:
            self._observer.allocated(placed, device=self._observer.ledger.on_device(made))
            if fill:
                placed.copy_(made)
            return placed
        if not fill:  # it did not fit: poison it where it is, though no band protects it
            storage = torch.empty(0, dtype=torch.uint8, device=made.device).set_(made.untyped_storage())
            storage.fill_(self._poison)
        return made
