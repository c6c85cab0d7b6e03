"""What a kernel is asked: drawn inputs with their right answer, and the same with a few rows changed."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from kernelarena.judge.arena import dtype_name, itemsize
from kernelarena.judge.outline import form_of
from kernelarena.judge.reference import Reference
from kernelarena.platforms import catalogue
from kernelarena.protocol.compile_events import TensorSpec
from kernelarena.protocol.tolerance import Truth, truth
from kernelarena.spec import Platform, Shape, TaskSource
from kernelarena.spec.task import Aspect

_REMEMBERED = 256
_REMEMBERED_BYTES = 2 << 30
_ROWS = 8  # one row in so many changes, and at least one
_ENDS = 4  # rows of no more elements change as a whole
_ELEMENTS = 32  # where there is but one row: one element in so many


@dataclass(frozen=True)
class Problem:
    """One drawn problem with its right answer."""

    shape: Shape
    inputs: dict[str, Any]
    truth: Truth
    expected: tuple[TensorSpec, ...]
    """The form of its outputs."""

    @property
    def expected_bytes(self) -> int:
        """Size of all outputs together."""
        return sum(math.prod(output.size) * itemsize(output.dtype) for output in self.expected)

    @property
    def bytes(self) -> int:
        """What it takes to remember it, roughly: inputs, and five values an element of the truth and its bounds."""
        tensors = [value for value in self.inputs.values() if isinstance(value, torch.Tensor)]
        outputs = sum(output.value.numel() for output in self.truth.outputs)
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors) + 40 * outputs


class Problems:
    """Draws problems, and remembers those that the next kernel of the task will need too.

    Parameters
    ----------
    platform
        Where kernels run; it decides which flavour of a dtype inputs have.
    device
        Where inputs are drawn and references evaluated.
    """

    def __init__(self, platform: Platform, device: torch.device | str = "cpu") -> None:
        self.platform = platform
        self.persona = platform if platform.persona is None else catalogue.load()[platform.persona]
        self._device = torch.device(device)
        self._references: dict[str, Reference] = {}
        self._known: OrderedDict[tuple[str, Shape, int, bool], Problem] = OrderedDict()
        self._bytes = 0

    def reference(self, task: TaskSource) -> Reference:
        """Return the task's reference, loaded once."""
        if task.digest not in self._references:
            self._references[task.digest] = Reference(task)
        return self._references[task.digest]

    def names(self, task: TaskSource) -> tuple[str, ...]:
        """Return the names of the task's inputs, in the order of a kernel's arguments."""
        return tuple(self.reference(task).outline(task.task.shapes()[0], self.platform)[0])

    def problem(self, task: TaskSource, shape: Shape, seed: int) -> Problem:
        """Return the problem that ``seed`` draws for ``shape``."""
        return self._remembered((task.digest, shape, seed, False), lambda: self._draw(task, shape, seed))

    def varied(self, task: TaskSource, shape: Shape, seed: int) -> Problem:
        """Return the same problem with a few rows of its floating-point inputs drawn anew.

        Whoever answers it from memory, by the address of an input, its shape or some of its elements, is wrong.
        Integer inputs stay (they may depend on one another), unless there are no others.
        """
        return self._remembered((task.digest, shape, seed, True), lambda: self._vary(task, shape, seed))

    def posed(self, task: TaskSource, shape: Shape, inputs: dict[str, Any], seed: int) -> Problem:
        """Return the problem that some inputs pose; it is not remembered."""
        return self._answered(task, shape, inputs, seed)

    def _draw(self, task: TaskSource, shape: Shape, seed: int) -> Problem:
        reference = self.reference(task)
        inputs = reference.draw(shape, self.platform, seed, self._device)
        return self._answered(task, shape, inputs, seed)

    def _vary(self, task: TaskSource, shape: Shape, seed: int) -> Problem:
        reference = self.reference(task)
        other = another_seed(seed)
        first = self.problem(task, shape, seed).inputs
        second = reference.draw(shape, self.platform, other, self._device)
        floats = [
            name for name, value in first.items() if isinstance(value, torch.Tensor) and value.is_floating_point()
        ]
        if any(first[name].numel() for name in floats):
            inputs = {name: mixed(value, second[name], other) if name in floats else value
                      for name, value in first.items()}  # fmt: skip
        else:
            inputs = {name: second[name] if isinstance(value, torch.Tensor) else value
                      for name, value in first.items()}  # fmt: skip
        # Inputs that were changed lie otherwise than those that they are written over.
        return replace(self._answered(task, shape, inputs, other), expected=self.problem(task, shape, seed).expected)

    def _answered(self, task: TaskSource, shape: Shape, inputs: dict[str, Any], seed: int) -> Problem:
        reference = self.reference(task)
        answer = truth(reference.function, inputs, seed=seed)
        if Aspect.STRIDES in task.task.contract:  # which the truth, computed in another dtype, need not have
            forms = tuple(form_of(output, task.task) for output in reference.function(**inputs))
        else:
            forms = tuple(TensorSpec(dtype=dtype_name(output.dtype), size=output.size) for output in answer.outputs)
        return Problem(shape, inputs, answer, forms)

    def _remembered(self, key: tuple[str, Shape, int, bool], make: Callable[[], Problem]) -> Problem:
        if key not in self._known:
            made = make()
            self._known[key] = made
            self._bytes += made.bytes
            while len(self._known) > 1 and (len(self._known) > _REMEMBERED or self._bytes > _REMEMBERED_BYTES):
                self._bytes -= self._known.popitem(last=False)[1].bytes
        self._known.move_to_end(key)
        return self._known[key]


def mixed(first: torch.Tensor, second: torch.Tensor, seed: int) -> torch.Tensor:
    """Return ``first`` with one row in eight replaced by that of ``second``, or some elements where it is one row.

    Parameters
    ----------
    first, second
        Of equal size and dtype.
    seed
        Chooses the rows.
    """
    if not first.numel():
        return first
    result = first.clone(memory_format=torch.contiguous_format)
    length = first.shape[-1] if first.dim() else 1
    rows = first.numel() // length
    # One row of a matrix, one element of a vector. Every so many of them, from one that nobody can foresee: a list of
    # places would take longer to draw than a kernel to run.
    width, step = (length, _ROWS) if rows > 1 else (1, _ELEMENTS)
    units = first.numel() // width
    start = seed % min(step, units)
    ours, theirs = result.view(units, width), second.contiguous().view(units, width)
    # Half of the rows keep their ends, by which somebody may know them again.
    inner = slice(1, -1) if width > _ENDS else slice(None)
    outer, kept = (start + step, start) if seed & 64 else (start, start + step)
    ours[outer :: 2 * step] = theirs[outer :: 2 * step]
    ours[kept :: 2 * step, inner] = theirs[kept :: 2 * step, inner]
    return result


def another_seed(seed: int) -> int:
    """Return a seed that follows from ``seed`` and has nothing else to do with it."""
    return _digest(f"{seed}/varied")


def trial_seed(hidden_seed: int, task: str, gate: str, index: int) -> int:
    """Return the seed of a trial's inputs: a function of the run's hidden seed that a kernel cannot know.

    It does not depend on the kernel, so that all kernels of a task face the same problems.
    """
    return _digest(f"{hidden_seed}/{task}/{gate}/{index}")


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1
