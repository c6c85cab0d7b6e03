"""Where a candidate calls the kernel: what the host code believes to run on, and where its tensors lie."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kernelarena.judge.memory import Exchange, HostExchange

if TYPE_CHECKING:
    from kernelarena.platforms.persona.observer import Observer
    from kernelarena.spec import Platform


class Stage(Protocol):
    """One way of calling a kernel, put up before its module is imported."""

    @property
    def observer(self) -> Observer:
        """What framework operators do during a call."""

    @property
    def exchange(self) -> Exchange:
        """How tensors come here."""

    @property
    def acts(self) -> Sequence[dict[str, Any]]:
        """What calls did that no kernel has a reason for, so far: ``reason`` and ``detail`` of each."""

    def run(self, entry: Callable[..., Any], arguments: Sequence[Any], *, held: bool) -> Any:
        """Call the entry and return what it returns, once the work that the caller would wait for is done.

        Parameters
        ----------
        entry, arguments
            The call.
        held
            Whether the inputs arrive only a moment after the call, in the order that the caller's work has.
        """

    def settle(self) -> None:
        """Wait for whatever else the call may have started."""


class HostStage:
    """An interpreter or emulator, under the persona of a chip; everything happens on the host's processor.

    Parameters
    ----------
    platform
        The chip that host code is told about.
    scratch
        Where Triton may write.
    until
        Keeps the persona on.
    binary
        Whether what is compiled for the chip runs, in an emulator of it, and not the source, in Triton's interpreter.
    """

    exchange = HostExchange()
    acts: Sequence[dict[str, Any]] = ()

    def __init__(self, platform: Platform, scratch: Path, until: contextlib.ExitStack, *, binary: bool = False) -> None:
        from kernelarena.platforms.persona import emulation, execution

        face = execution if binary else emulation
        self.observer = until.enter_context(face(platform, scratch))

    def run(self, entry: Callable[..., Any], arguments: Sequence[Any], *, held: bool) -> Any:
        """Call the entry; nothing on a host's processor outlasts the call but threads and processes."""
        return entry(*arguments)

    def settle(self) -> None:
        """Do nothing: threads and processes cannot be waited for; the judge looks again later."""
