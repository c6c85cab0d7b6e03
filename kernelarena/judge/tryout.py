"""Trying a task's own code once, in a process that may come to harm: what happens there would happen to a judge.

It is not verified (:mod:`kernelarena.judge.verifying` does that): what counts is that it loads, draws inputs, and comes
back from computing an answer, at every dtype, on every published shape made so small that this takes a moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from kernelarena.errors import InputError
from kernelarena.judge.reference import Reference
from kernelarena.protocol.draw import fit
from kernelarena.spec import Platform, Shape, Task, TaskSource
from kernelarena.spec.base import Model
from kernelarena.spec.platform import Budget

SMALL = Budget(elements=2048, flops=1_000_000)
"""Of shapes on the host, where an index out of range is an exception and nothing worse. A reference that is written as
a loop over elements is done with them at once."""


class Job(Model):
    """What a process is asked to try."""

    task: TaskSource
    platform: Platform
    """Decides which flavours of a dtype inputs have."""


def preload() -> None:
    """Have the framework do what it does for the first operator only."""
    torch.set_num_threads(1)
    torch.ones(2, 2).double() @ torch.ones(2, 2).double()


def run(argument: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Try a task in a process made for that.

    Parameters
    ----------
    argument
        A :class:`Job`, as JSON.

    Yields
    ------
    dict
        ``{"at": …}`` before each step, in words, so that it is known which one did not return; ``{"unusable": …}``
        where one raised.
    """
    job = Job.model_validate(argument)
    task = job.task.task
    try:
        yield {"at": "loading it"}
        reference = Reference(job.task)
        for shape in _shapes(task):
            yield {"at": f"inputs() for {shape}"}
            inputs = reference.draw(shape, job.platform, seed=0)
            yield {"at": f"reference() for {shape}"}
            try:
                reference.function(**inputs)
            except InputError as error:
                if not isinstance(error.__cause__, RuntimeError):  # what the host's processor lacks, a device may have
                    raise
    except InputError as error:
        yield {"unusable": str(error)}


def _shapes(task: Task) -> Iterator[Shape]:
    for dtype in task.dtypes:
        seen = []
        for dims in (fit(task, dims, dtype, SMALL) for dims in task.visible):
            if dims not in seen:
                seen.append(dims)
                yield Shape(dims=dims, dtype=dtype)
