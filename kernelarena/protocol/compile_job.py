"""What the compile gate is asked: one kernel, one platform, and the calls to make. Plain data throughout."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kernelarena.protocol.compile_events import Arg, TensorSpec
from kernelarena.spec import Kernel, Platform, Shape
from kernelarena.spec.base import Model


class Call(Model):
    """One call of the entry."""

    shape: Shape
    args: tuple[Arg, ...]
    """In call order; tensors are described, not sent: the gate fills them with zeros."""
    outputs: tuple[TensorSpec, ...] | None = None
    """What the task's reference returns for it, where that is known."""


class CompileJob(Model):
    """Everything that a candidate process needs for the compile gate of one cell."""

    kernel: Kernel
    platform: Platform
    calls: tuple[Call, ...]
    ahead: tuple[Call, ...] = ()
    """Calls that nothing is concluded from: a process that will run the kernel finds built what they need."""
    framework: tuple[str, ...] = ()
    """ATen operators that the task lets a kernel leave to the framework."""
    in_place: int | None = None
    """The argument that the operator changes, and that is its output."""


def make_calls(calls: Iterable[Call], make: Callable[[int, Call], bool]) -> set[str]:
    """Make calls, and return the dtypes that one has failed with; their other calls would fail alike, and are skipped.

    Parameters
    ----------
    calls
        In order.
    make
        Makes one, given its place; returns whether it went well.
    """
    failed: set[str] = set()
    for index, call in enumerate(calls):
        if call.shape.dtype not in failed and not make(index, call):
            failed.add(call.shape.dtype)
    return failed
