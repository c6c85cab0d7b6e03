"""A device that a process has opened: what the measured path asks of it.

What a runtime cannot do is left undone in the way that each method says; nothing may be pretended, since the verdicts
and times of kernels rest on it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import torch

    from kernelarena.platforms.exchange import Exchange


class Stream(Protocol):
    """An order of work on a device. Two streams wait for each other only where they are told to."""

    def synchronize(self) -> None:
        """Wait until everything is done that was queued here."""


class Mark(Protocol):
    """A point in a stream's work, and when the device got there."""

    def record(self, stream: Any) -> None:
        """Put it behind everything that was queued on ``stream`` so far."""

    def query(self) -> bool:
        """Return whether the device got there."""

    def synchronize(self) -> None:
        """Wait until it does."""

    def elapsed_time(self, later: Any) -> float:
        """Return milliseconds of the device's own clock from here to a later mark; both were reached."""


class OpenedDevice(Protocol):
    """One device, in a process that from now on is not forked."""

    @property
    def device(self) -> torch.device:
        """What torch calls it: tensors are made there."""

    def exchange(self) -> Exchange | None:
        """Return how its memory is shared with another process; None where it has to be copied through the host's."""

    def synchronise(self) -> None:
        """Wait for everything that this process has the device do, and raise what became of it (RuntimeError)."""

    def memory(self) -> tuple[int, int]:
        """Return the bytes of its memory that are free, and all of them."""

    def trim(self) -> None:
        """Give back what the framework's allocator in this process keeps without using it."""

    def limit_memory(self, size: int) -> bool:
        """Have the framework's allocator in this process take no more than ``size`` bytes.

        Returns
        -------
        bool
            Whether it will refuse more (``torch.OutOfMemoryError``); False where it cannot be limited.
        """

    def stream(self) -> Stream:
        """Return a new stream, which waits for no other one."""

    def on(self, stream: Any) -> AbstractContextManager[None]:
        """Have what is launched within go to ``stream``, unless it asks for another."""

    def number(self, stream: Any) -> int:
        """Return the runtime's handle of a stream, which is what a launcher is given."""

    def numbered(self, number: int) -> Stream:
        """Return the stream of a handle; 0 is the one that is current where nothing was said.

        Where the framework cannot make a stream of a handle that it did not give out, it is the default one: work that
        a kernel puts on such a stream and does not wait for is then noticed by its late results alone.
        """

    def settings(self) -> tuple[int, ...]:
        """Return settings of the context that a kernel has no business with, as the driver tells them now."""

    def delay(self, seconds: float) -> None:
        """Keep the current stream busy for about that long; at least not idle for as long as work is queued behind.

        Doing nothing is allowed where there is no way: timed runs are then marked as bound by the host.
        """

    def marks(self) -> Mark:
        """Return a mark that can be recorded on a stream, and tells the time from another one."""

    def scratch(self, size: int) -> torch.Tensor:
        """Return ``size`` bytes of its memory, for nothing but to be written."""


@runtime_checkable
class Recorder(Protocol):
    """A device that can do recorded work again without the host, as graphs do; a backend need not offer it."""

    def record(self, work: Callable[[], object], stream: Any) -> Callable[[], None] | None:
        """Have some work queued on ``stream`` for a record, not for the device.

        Returns
        -------
        callable or None
            Queues all of it on the current stream at once; None where it cannot be recorded.
        """
