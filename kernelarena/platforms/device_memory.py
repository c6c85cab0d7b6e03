"""Device memory that the judge and a candidate share.

The judge creates allocations and exports each as a descriptor; the candidate imports and maps them. Against the
runtimes' older inter-process handles this has three advantages: nothing but the allocations themselves is exposed (an
older handle opens the whole segment of the framework's allocator that a tensor lies in), they work across process id
namespaces, and addresses can be left without memory, so that reading past an input is a fault at the access.

A driver maps allocations only as a whole, so memory with fences consists of several: one for each stretch between
them. All travel as *one* descriptor, that of a socket in which a message waits with the others attached.
"""

from __future__ import annotations

import array
import contextlib
import os
import socket
import struct
from collections.abc import Iterator, Sequence

import torch

from kernelarena.platforms.virtual_memory import Calls

Stretch = tuple[int, int]
"""Start and length, bytes."""
_NUMBER = struct.Struct("<Q")
_MOST_STRETCHES = 250
"""The kernel passes at most 253 descriptors beside one message."""


class DeviceExchange:
    """Makes memory of one device that another process can map, and maps it there.

    Parameters
    ----------
    calls
        Of the device's driver.
    device
        The device, as torch calls it; torch must have opened it already.
    """

    alignment = 256
    """Bytes that the runtimes' own allocators align to at least."""
    fenced = True

    def __init__(self, calls: Calls, device: torch.device) -> None:
        self._calls = calls
        self._device = device
        self.page = calls.granularity

    def allocate(self, size: int, fences: Sequence[Stretch] = ()) -> DeviceMemory:
        """Return at least ``size`` bytes; see :class:`DeviceMemory`."""
        return DeviceMemory(self._calls, self._device, size, fences)

    def attach(self, descriptor: int, fences: Sequence[Stretch] = ()) -> DeviceWindow:
        """Map what the other side allocated; where the fences are, there is nothing."""
        return DeviceWindow(self._calls, self._device, descriptor)


class Mapping:
    """Addresses with memory behind them, for as long as a tensor over them exists.

    Parameters
    ----------
    calls, device
        Of the device.
    size
        Bytes of addresses, whole granules.
    """

    def __init__(self, calls: Calls, device: torch.device, size: int) -> None:
        self._calls = calls
        self._device = device
        self._size = size
        self._mapped: list[Stretch] = []
        self._address = calls.reserve(size)

    def place(self, start: int, length: int, handle: int) -> None:
        """Put an allocation at ``start`` bytes from the first address; the handle may be released afterwards."""
        self._calls.map(self._address + start, length, handle)
        self._mapped.append((self._address + start, length))

    def tensor(self) -> torch.Tensor:
        """Return all of it as ``uint8``; the tensor and its views keep this object."""
        self.__cuda_array_interface__ = {
            "shape": (self._size,), "strides": None, "typestr": "|u1", "data": (self._address, False), "version": 3,
        }  # fmt: skip
        return torch.as_tensor(self, device=self._device)

    def __del__(self) -> None:
        # Nothing may still run on the memory. After a fault of the device every call fails, and the process ends soon.
        with contextlib.suppress(Exception):
            torch.cuda.synchronize(self._device)
            for address, length in self._mapped:
                self._calls.unmap(address, length)
            self._calls.free(self._address, self._size)


class DeviceMemory:
    """The judge's side: one range of addresses, all of it readable and writable here.

    Parameters
    ----------
    calls, device
        Of the device.
    size
        Bytes; rounded up to whole granules.
    fences
        Stretches of whole granules that the other side has nothing behind. Here they share one allocation, so that
        the range can be filled and compared as a whole; what it holds is of no use.

    Raises
    ------
    MemoryError
        If the device has not enough left.
    """

    def __init__(self, calls: Calls, device: torch.device, size: int, fences: Sequence[Stretch] = ()) -> None:
        page = calls.granularity
        size = max(page, -(-size // page) * page)
        self._descriptors: list[int] = []
        self._stretches = between(size, fences)
        if len(self._stretches) > _MOST_STRETCHES:
            raise ValueError(f"{len(self._stretches)} tensors are more than can be handed over at once")
        self._size = size
        self._envelope: socket.socket | None = None
        mapping = Mapping(calls, device, size)
        try:
            for start, length in self._stretches:
                with _created(calls, length) as handle:
                    self._descriptors.append(calls.export(handle))
                    mapping.place(start, length, handle)
            if fences:
                with _created(calls, page) as handle:
                    for start, length in fences:
                        for at in range(start, start + length, page):
                            mapping.place(at, page, handle)
            self.bytes = mapping.tensor()
        except BaseException:
            self.close()
            raise

    @property
    def descriptor(self) -> int:
        """A descriptor by which the other side maps the memory, once; it is valid until this is asked again."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        numbers = [self._size, *(number for stretch in self._stretches for number in stretch)]
        attached = array.array("i", self._descriptors).tobytes()
        ours.sendmsg(
            [b"".join(_NUMBER.pack(number) for number in numbers)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, attached)]
        )
        ours.close()
        if self._envelope is not None:
            self._envelope.close()
        self._envelope = theirs
        return theirs.fileno()

    def publish(self) -> None:
        """Have everything written that was queued here: the other side's work is not ordered after ours."""
        torch.cuda.synchronize(self.bytes.device)

    def fetch(self) -> None:
        """Do nothing: both sides have the same memory, and the other side waited for its own work."""

    def close(self) -> None:
        """Give it back; memory goes when the last mapping does, in whichever process."""
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []
        if self._envelope is not None:
            self._envelope.close()
            self._envelope = None


class DeviceWindow:
    """The candidate's side: nothing behind the fences.

    Parameters
    ----------
    calls, device
        Of the device.
    descriptor
        What :attr:`DeviceMemory.descriptor` gave; owned from now on.

    Raises
    ------
    OSError
        If it cannot be mapped.
    """

    def __init__(self, calls: Calls, device: torch.device, descriptor: int) -> None:
        with socket.socket(fileno=descriptor) as envelope:
            space = socket.CMSG_SPACE(_MOST_STRETCHES * array.array("i").itemsize)
            data, ancillary, _, _ = envelope.recvmsg((1 + 2 * _MOST_STRETCHES) * _NUMBER.size, space)
        received = array.array("i")
        for _, _, payload in ancillary:
            received.frombytes(payload[: len(payload) - len(payload) % received.itemsize])
        try:
            size, *numbers = (number for (number,) in _NUMBER.iter_unpack(data))
            mapping = Mapping(calls, device, size)
            for start, length, part in zip(numbers[::2], numbers[1::2], received, strict=True):
                with _taken(calls, part) as handle:
                    mapping.place(start, length, handle)
        except ValueError as error:
            raise OSError(f"what came is no device memory: {error}") from None
        finally:
            for part in received:
                os.close(part)
        self.bytes = mapping.tensor()

    def fetch(self) -> None:
        """Do nothing: both sides have the same memory, and the judge waited for its own work."""

    def publish(self) -> None:
        """Have everything written that was queued on the current stream, and on no other: late work is to show."""
        torch.cuda.current_stream(self.bytes.device).synchronize()


def between(size: int, fences: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches of ``size`` bytes that lie between fences, which are in order."""
    found, cursor = [], 0
    for start, length in [*fences, (size, 0)]:
        if start > cursor:
            found.append((cursor, start - cursor))
        cursor = start + length
    return found


@contextlib.contextmanager
def _created(calls: Calls, size: int) -> Iterator[int]:
    handle = calls.create(size)
    try:
        yield handle
    finally:
        calls.release(handle)


@contextlib.contextmanager
def _taken(calls: Calls, descriptor: int) -> Iterator[int]:
    handle = calls.take(descriptor)
    try:
        yield handle
    finally:
        calls.release(handle)
