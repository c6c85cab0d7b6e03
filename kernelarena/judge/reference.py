"""A task's own code, loaded from its text: what draws the inputs and what the right answer is."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kernelarena.errors import InputError
from kernelarena.judge.arena import dtype_name, spread
from kernelarena.judge.overdue import Overdue, limited
from kernelarena.protocol.sampler import Sampler
from kernelarena.spec import Platform, Shape, TaskSource

Outputs = tuple[torch.Tensor, ...]
SECONDS = 120.0
"""For one evaluation. What is asked of it takes milliseconds on the shapes of an interpreter, seconds on a device's."""


class Reference:
    """The functions of a task: how its inputs are drawn, and what is right.

    Parameters
    ----------
    task
        The task with their text.

    Raises
    ------
    InputError
        If the text cannot be executed or lacks ``inputs`` or ``reference``. Whatever its functions raise later is an
        ``InputError`` too, and so is taking more than :data:`SECONDS`: they are a user's, not ours.
    torch.OutOfMemoryError
        If a device has no memory left for what its functions do.
    """

    def __init__(self, task: TaskSource) -> None:
        self._where, self._has_lines = task.where, task.file.endswith(".py")
        self._late: InputError | None = None
        namespace: dict[str, Any] = {"__name__": f"reference_of_{task.task.id}"}
        with self._blamed("cannot be loaded"):
            exec(compile(task.reference, self._where, "exec"), namespace)
        for name in ("inputs", "reference"):
            if not callable(namespace.get(name)):
                raise InputError(f"{self._where}: defines no function '{name}'")
        self._inputs: Callable[..., Any] = namespace["inputs"]
        self._reference: Callable[..., Any] = namespace["reference"]

    def function(self, **inputs: Any) -> Outputs:
        """Return the right answer for some inputs."""
        with self._blamed("reference() fails on its own inputs"):
            result = self._reference(**inputs)
        outputs = tuple(result) if isinstance(result, tuple | list) else (result,)
        if not outputs or not all(isinstance(output, torch.Tensor) for output in outputs):
            raise InputError(f"{self._where}: reference() must return a tensor or a tuple of tensors")
        return outputs

    def draw(self, shape: Shape, platform: Platform, seed: int, device: torch.device | str = "cpu") -> dict[str, Any]:
        """Return fresh inputs for a shape, by name and in the order of the entry's arguments."""
        inputs = self._drawn(shape, Sampler(shape, seed, dtypes=platform.dtype, device=device))
        for value in inputs.values():
            if isinstance(value, torch.Tensor) and dtype_name(value.dtype) in platform.flushes:
                _flush(value)
        return inputs

    def outline(self, shape: Shape, platform: Platform) -> tuple[dict[str, Any], Outputs | None]:
        """Return inputs and outputs that have sizes and dtypes but no data.

        The outputs are None where the reference cannot run without data.
        """
        inputs = self._drawn(shape, Sampler(shape, 0, dtypes=platform.dtype, device="meta"))
        try:
            return inputs, self.function(**inputs)
        except InputError as error:
            if isinstance(error.__cause__, NotImplementedError | RuntimeError):  # reads values, which there are none of
                return inputs, None
            raise

    def _drawn(self, shape: Shape, sampler: Sampler) -> dict[str, Any]:
        with self._blamed("inputs() fails"):
            inputs = self._inputs(shape, sampler)
        fits = isinstance(inputs, dict) and all(
            isinstance(value, torch.Tensor | bool | int | float) for value in inputs.values()
        )
        if not fits:
            raise InputError(f"{self._where}: inputs() must return a dictionary of tensors and numbers")
        return dict(inputs)

    @contextlib.contextmanager
    def _blamed(self, what: str) -> Iterator[None]:
        """Lay what is raised within, and what takes too long, at the file's door."""
        if self._late is not None:
            raise self._late  # so that nobody waits for it twice
        try:
            with limited(SECONDS, self._where):
                yield
        except Overdue as error:
            self._late = InputError(f"{self._place(error)}: the task's own code did not finish within {SECONDS:g} s")
            raise self._late from None
        except torch.OutOfMemoryError:
            raise  # of a device, whose memory others hold as well
        except (Exception, SystemExit) as error:
            said = " ".join(str(error).split())[:300]
            raise InputError(f"{self._place(error)}: {what}: {type(error).__name__}: {said}") from error

    def _place(self, error: BaseException) -> str:
        """Return the file, and the line of it that was being executed, where it is the user who wrote that line."""
        if not self._has_lines:
            return self._where
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__)
                 if frame.f_code.co_filename == self._where]  # fmt: skip
        return ":".join([self._where, *map(str, lines[-1:])])


def _flush(value: torch.Tensor) -> None:
    """Put zero in the place of denormal numbers; whatever its strides, also where elements share memory."""
    whole = spread(value)
    whole.masked_fill_(whole.abs() < torch.finfo(value.dtype).tiny, 0)
