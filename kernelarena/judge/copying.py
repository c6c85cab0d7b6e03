"""Device memory of either side that is copied through shared memory of the host, where devices cannot share theirs."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kernelarena.judge.memory import Fence, HostExchange, MappedFile, SharedFile


class CopyExchange:
    """Each side has memory of its own on the device; a file of the host's carries its bytes across.

    Nothing can be made inaccessible: what is read past the end of an input is poison, and no fault.

    Parameters
    ----------
    device
        Where the memory lies.
    """

    alignment = 256
    page = HostExchange.page
    fenced = False

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def allocate(self, size: int, fences: Sequence[Fence] = ()) -> Copied:
        """Return at least ``size`` bytes."""
        return Copied(SharedFile(size), self._device, owner=True)

    def attach(self, descriptor: int, fences: Sequence[Fence]) -> Copied:
        """Open what the other side allocated."""
        return Copied(MappedFile(descriptor), self._device, owner=False)


class Copied:
    """One side's memory, and the file between the two.

    Parameters
    ----------
    file
        Of the host's.
    device
        Where this side's own memory lies.
    owner
        Whether this side made the file, and closes it.
    """

    def __init__(self, file: SharedFile | MappedFile, device: torch.device, *, owner: bool) -> None:
        self._file = file
        self._owner = owner
        self.bytes = torch.zeros(file.bytes.numel(), dtype=torch.uint8, device=device)

    @property
    def descriptor(self) -> int:
        """The open file that makes the other side see it."""
        assert isinstance(self._file, SharedFile)
        return self._file.descriptor

    def publish(self) -> None:
        """Copy from the device to the file; done when this returns."""
        self._file.bytes.copy_(self.bytes)

    def fetch(self) -> None:
        """Copy from the file to the device."""
        self.bytes.copy_(self._file.bytes)

    def close(self) -> None:
        """Give it back."""
        if self._owner and isinstance(self._file, SharedFile):
            self._file.close()
