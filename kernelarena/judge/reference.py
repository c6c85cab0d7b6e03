"""A task's own code, loaded from its text: what draws the inputs and what the right answer is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kernelarena.errors import InputError
from kernelarena.protocol.sampler import Sampler
from kernelarena.spec import Platform, Shape, TaskSource

Outputs = tuple[torch.Tensor, ...]


class Reference:
    """The functions of a task's ``reference.py``.

    Parameters
    ----------
    task
        The task with the text of that file.

    Raises
    ------
    InputError
        If the text cannot be executed or lacks ``inputs`` or ``reference``.
    """

    def __init__(self, task: TaskSource) -> None:
        namespace: dict[str, Any] = {"__name__": f"reference_of_{task.task.id}"}
        where = f"{task.origin}/reference.py"
        try:
            exec(compile(task.reference, where, "exec"), namespace)
            self._inputs: Callable[..., dict[str, Any]] = namespace["inputs"]
            self.function: Callable[..., Any] = namespace["reference"]
        except KeyError as missing:
            raise InputError(f"{where}: defines no function {missing}") from None
        except Exception as error:
            raise InputError(f"{where}: cannot be loaded: {type(error).__name__}: {error}") from None

    def draw(self, shape: Shape, platform: Platform, seed: int) -> dict[str, Any]:
        """Return fresh inputs for a shape, by name and in the order of the entry's arguments."""
        return self._inputs(shape, Sampler(shape, seed, dtypes=platform.dtype))

    def outline(self, shape: Shape, platform: Platform) -> tuple[dict[str, Any], Outputs | None]:
        """Return inputs and outputs that have sizes and dtypes but no data.

        The outputs are None where the reference cannot run without data.
        """
        inputs = self._inputs(shape, Sampler(shape, 0, dtypes=platform.dtype, device="meta"))
        try:
            return inputs, as_tuple(self.function(**inputs))
        except (NotImplementedError, RuntimeError):
            return inputs, None


def as_tuple(result: Any) -> Outputs:
    """Return what a reference returned as a tuple of tensors."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)
