"""The ways in which Python code switches torch's dispatch modes off, or takes hold of them.

The harness sees what framework operators do by a mode, and hands out memory by another one. Torch goes through these
doors itself, so they stay open; but who goes through is looked at, and no kernel has a reason to.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from kernelarena.judge.integrity.origin import Origins, Place
from kernelarena.spec import Reason

_DOORS = {
    "torch.utils._python_dispatch": (
        "_disable_current_modes", "_get_current_dispatch_mode_stack", "_get_current_dispatch_mode",
        "_get_current_dispatch_mode_pre_dispatch", "_pop_mode", "_pop_mode_temporarily",
    ),
    "torch.overrides": (
        "_get_current_function_mode_stack", "_get_current_function_mode", "_pop_mode", "_pop_mode_temporarily",
    ),
    "torch._C": (
        "_DisableTorchDispatch", "_get_dispatch_stack_at", "_get_dispatch_mode", "_unset_dispatch_mode",
        "_pop_torch_dispatch_stack", "_get_function_stack_at", "_pop_torch_function_stack",
        "_ExcludeDispatchKeyGuard", "_ForceDispatchKeyGuard", "_AutoDispatchBelowAutograd",
        "_AutoDispatchBelowADInplaceOrView",
    ),
    "torch.utils._mode_utils": ("no_dispatch",),
    "torch._ops:OpOverload": ("redispatch",),
}  # fmt: skip
_THROUGH = frozenset({"contextlib", "functools"})
_ADVICE = "torch's modes are how the harness sees what a kernel leaves to the framework; remove the call"

Note = Callable[[str, str, Reason, Place], None]


def close_doors(origins: Origins, note: Note) -> None:
    """Have ``note`` called whenever the kernel's own code goes through one of the doors.

    Modules of torch that took these functions at import go on without; what they do is not the kernel's doing.
    """
    for where, names in _DOORS.items():
        module_name, _, class_name = where.partition(":")
        module = importlib.import_module(module_name)
        owner = getattr(module, class_name) if class_name else module
        for name in names:
            if (real := getattr(owner, name, None)) is not None:  # versions of torch differ by a few
                label = ".".join(filter(None, (module_name, class_name, name)))
                setattr(owner, name, _watched(real, label, origins, note))


def _watched(real: Callable[..., Any], label: str, origins: Origins, note: Note) -> Callable[..., Any]:
    blame = origins.blame

    def through(*args: Any, **kwargs: Any) -> Any:
        place = blame(_THROUGH, 1)
        if place is not None:
            note(f"goes around torch's modes by {label}", _ADVICE, Reason.JUDGE_TAMPERING, place)
        return real(*args, **kwargs)

    for name in functools.WRAPPER_ASSIGNMENTS:
        if name != "__annotations__" and hasattr(real, name):
            setattr(through, name, getattr(real, name))
    return through
