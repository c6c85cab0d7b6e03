"""What a kernel is timed beside: the task's own reference, eager, in a process of its own under the same conditions."""

from __future__ import annotations

import json
from collections.abc import Iterable

from kernelarena.spec import Kernel, Language, TaskSource

NAME = "pytorch-eager"
_SOURCE = (
    "from reference import reference\n\n"
    "NAMES = {names}\n\n\n"
    "def entry(*values):\n"
    "    return reference(**dict(zip(NAMES, values, strict=True)))\n"
)


def eager(task: TaskSource, names: Iterable[str]) -> Kernel:
    """Return the reference as a kernel.

    Parameters
    ----------
    task
        The task.
    names
        Of its inputs, in the order of a kernel's arguments.
    """
    return Kernel(
        id=NAME,
        task=task.task.id,
        language=Language.TORCH,
        file="baseline.py",
        function="entry",
        files={"baseline.py": _SOURCE.format(names=json.dumps(list(names))), "reference.py": task.reference},
        origin=task.origin,
    )
