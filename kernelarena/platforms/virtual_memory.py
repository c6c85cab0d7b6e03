"""The virtual memory calls of a device's driver: allocations that other processes can map, at addresses of choice.

CUDA's driver and HIP offer the same calls under other names, so one table of names serves both.

Sources: CUDA Driver API, section *Virtual Memory Management*; HIP Runtime API, section of the same name. The path of
HIP has never been run.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Equal in both runtimes.
_PINNED = 1
_POSIX_DESCRIPTOR = 1
_ON_DEVICE = 1
_READ_WRITE = 3
_MINIMUM_GRANULARITY = 0
_OUT_OF_MEMORY = 2
_NO_FLAGS = ctypes.c_ulonglong(0)


class DriverError(OSError):
    """The driver's library does not load, lacks a call, or refused one."""


@dataclass(frozen=True)
class Runtime:
    """Where a vendor's calls are found.

    Attributes
    ----------
    libraries
        Names of the shared library; the first that loads is taken.
    prefix
        Of every call: ``cu`` for ``cuMemCreate``.
    version_call
        Without the prefix; writes the runtime's version into an int. Where importing depends on it.
    import_by_value_since
        The version from which on a descriptor is handed over by value; its address was, before. None: always.
    limits
        Numbers of settings of a context, by ``CtxGetLimit``, that last beyond a call and change how others run.
    """

    libraries: tuple[str, ...]
    prefix: str
    version_call: str = ""
    import_by_value_since: int | None = None
    limits: tuple[int, ...] = ()


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    """What is allocated. The two runtimes' structures differ in trailing bytes that are not used."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("win32", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class Library:
    """A runtime's shared library.

    Parameters
    ----------
    runtime
        Whose.

    Raises
    ------
    DriverError
        If it does not load.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._library = _load(runtime.libraries)

    def limits(self) -> tuple[int, ...]:
        """Return the settings of the current context that :attr:`Runtime.limits` names."""
        found = []
        for number in self._runtime.limits:
            value = ctypes.c_size_t()
            self._call("CtxGetLimit", ctypes.byref(value), ctypes.c_int(number))
            found.append(int(value.value))
        return tuple(found)

    def _call(self, name: str, *arguments: Any) -> None:
        name = self._runtime.prefix + name
        function: Callable[..., int] | None = getattr(self._library, name, None)
        if function is None:
            raise DriverError(f"the driver has no {name}; a newer one is needed")
        status = function(*arguments)
        if status == _OUT_OF_MEMORY:
            raise MemoryError("the device has not enough memory left")
        if status:
            raise DriverError(f"{name} failed with status {status}")


class Calls(Library):
    """The calls for one device. The process must have a context of that device before the first one.

    Parameters
    ----------
    runtime
        Whose calls.
    index
        The device, by this process's numbering.

    Raises
    ------
    DriverError
        If the library does not load. What the driver refuses later is one too, or a ``MemoryError``.
    """

    def __init__(self, runtime: Runtime, index: int) -> None:
        super().__init__(runtime)
        self._index = index

    def create(self, size: int) -> int:
        """Return a handle to an allocation of ``size`` bytes, a multiple of the granularity.

        Raises
        ------
        MemoryError
            If the device has not that much left.
        """
        handle = ctypes.c_uint64()
        self._call("MemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(self._properties), _NO_FLAGS)
        return int(handle.value)

    def export(self, handle: int) -> int:
        """Return a descriptor by which another process can take the allocation; the caller closes it."""
        descriptor = ctypes.c_int(-1)
        what = ctypes.c_uint64(handle), _POSIX_DESCRIPTOR
        self._call("MemExportToShareableHandle", ctypes.byref(descriptor), *what, _NO_FLAGS)
        os.set_inheritable(descriptor.value, False)
        return int(descriptor.value)

    def take(self, descriptor: int) -> int:
        """Return a handle to the allocation behind a descriptor, which stays open."""
        handle, number = ctypes.c_uint64(), ctypes.c_int(descriptor)
        given = ctypes.c_void_p(descriptor) if self._by_value else ctypes.cast(ctypes.pointer(number), ctypes.c_void_p)
        self._call("MemImportFromShareableHandle", ctypes.byref(handle), given, _POSIX_DESCRIPTOR)
        return int(handle.value)

    def release(self, handle: int) -> None:
        """Give a handle up; the memory goes with its last handle and mapping, in whichever process."""
        self._call("MemRelease", ctypes.c_uint64(handle))

    def reserve(self, size: int) -> int:
        """Return the first of ``size`` bytes of addresses that nothing else in this process will get."""
        address = ctypes.c_uint64()
        no_wish = ctypes.c_size_t(0), ctypes.c_uint64(0)  # as to alignment and address
        self._call("MemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), *no_wish, _NO_FLAGS)
        return int(address.value)

    def map(self, address: int, size: int, handle: int) -> None:
        """Map a whole allocation (parts of one cannot be mapped) and allow the device to use it."""
        where = ctypes.c_uint64(address), ctypes.c_size_t(size)
        self._call("MemMap", *where, ctypes.c_size_t(0), ctypes.c_uint64(handle), _NO_FLAGS)
        access = _Access(_Location(_ON_DEVICE, self._index), _READ_WRITE)
        self._call("MemSetAccess", *where, ctypes.byref(access), ctypes.c_size_t(1))

    def unmap(self, address: int, size: int) -> None:
        """Undo :meth:`map`; the device must be done with it."""
        self._call("MemUnmap", ctypes.c_uint64(address), ctypes.c_size_t(size))

    def free(self, address: int, size: int) -> None:
        """Undo :meth:`reserve`."""
        self._call("MemAddressFree", ctypes.c_uint64(address), ctypes.c_size_t(size))

    @cached_property
    def granularity(self) -> int:
        """Bytes that sizes and addresses are multiples of; 2 MiB on current devices."""
        size, properties = ctypes.c_size_t(), self._properties
        what = ctypes.byref(properties), _MINIMUM_GRANULARITY
        self._call("MemGetAllocationGranularity", ctypes.byref(size), *what)
        return int(size.value)

    @property
    def _properties(self) -> _Properties:
        return _Properties(_PINNED, _POSIX_DESCRIPTOR, _Location(_ON_DEVICE, self._index), None)

    @cached_property
    def _by_value(self) -> bool:
        since = self._runtime.import_by_value_since
        if since is None:
            return True
        version = ctypes.c_int()
        self._call(self._runtime.version_call, ctypes.byref(version))
        return version.value >= since


def _load(names: Sequence[str]) -> ctypes.CDLL:
    problem: OSError | None = None
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            problem = error
    raise DriverError(f"the driver's library does not load: {problem}")
