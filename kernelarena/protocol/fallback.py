"""Decides whether a kernel did the task's work or left it to the framework, from what was observed of a call."""

from __future__ import annotations

from kernelarena.protocol.compile_events import CallEnds, Use
from kernelarena.spec import Shape, Task

_CONTRACTION_SHARE = 0.5
"""Of the task's operations; a kernel that leaves at least so much to framework contractions is none."""


def left_to_framework(call: CallEnds, task: Task, shape: Shape) -> str | None:
    """Return why the call counts as the framework's work, or None if it is the kernel's own.

    It is the framework's if an output cannot have come out of any launch, if contractions (matrix products,
    convolutions, attention) of the framework do at least half of the operations that the task takes, or if the
    framework's computing operators read and write at least as many elements as were handed to launches. Views,
    allocations, fills, copies and casts compute nothing; operators that the task names are its own to use.
    """
    used = {name: use for name, use in call.operators.items() if name not in task.framework}
    names = ", ".join(sorted(used, key=lambda name: -used[name].elements)[:3])
    no_tensors = {index for index, output in enumerate(call.outputs) if output is None}
    unmade = [index for index, derived in enumerate(call.derived) if not derived and index not in no_tensors]
    if unmade and (used or call.launches):
        which = "the output" if len(call.derived) == 1 else f"output {unmade[0]}"
        return f"{which} comes from {names or 'host code'}, not from a launched kernel"
    flops = sum(use.flops for use in used.values())
    needed = task.flops(shape)
    if flops and flops >= _CONTRACTION_SHARE * needed:
        return f"{names} do {flops:.3g} of the {needed:.3g} operations that the task takes"
    elements = sum(use.elements for use in used.values())
    if used and elements >= call.launched_elements:
        return f"{names} touch {elements} elements, the launched kernels {call.launched_elements}"
    return None


def light_use(operators: dict[str, Use], task: Task) -> str | None:
    """Return a note on framework operators that a kernel used beside its own work, or None if there were none."""
    used = sorted(name for name in operators if name not in task.framework)
    return f"uses framework operators beside its own kernels: {', '.join(used)}" if used else None
