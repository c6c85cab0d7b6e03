"""A library linked with the recorder (``recorder.cpp``), loaded in this process: its entry runs and launches nothing.

The structures are those of ``recorder.cpp`` and ``kernelarena.h``.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernelarena.platforms.persona.facts import PersonaFacts
from kernelarena.platforms.toolchains.cpp.entry import EXPORTED

_DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
)
"""In the order of ``ka_dtype``."""
_ALIGNMENT = 512  # bytes, of what the runtimes' allocators give
_NORESERVE = 0x4000  # Linux's MAP_NORESERVE


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("size", ctypes.POINTER(ctypes.c_int64)), ("stride", ctypes.POINTER(ctypes.c_int64)),
    ]  # fmt: skip


class _Chip(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 256), ("arch", ctypes.c_char * 64), ("memory", ctypes.c_int64), ("l2", ctypes.c_int64),
        *((name, ctypes.c_int32) for name in (
            "warp", "threads", "shared", "shared_most", "shared_all", "multiprocessors", "threads_all",
            "registers_all", "major", "minor",
        )),
        ("grid", ctypes.c_int64 * 3),
    ]  # fmt: skip


class _Launch(ctypes.Structure):
    _fields_ = [
        ("function", ctypes.c_char_p), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint64), ("allowed", ctypes.c_uint64), ("error", ctypes.c_int32),
    ]  # fmt: skip


@dataclass(frozen=True)
class Described:
    """A tensor without data.

    Attributes
    ----------
    dtype
        torch's name.
    size, stride
        In elements.
    bytes
        From its first element to the end of its last.
    offset
        Bytes from an aligned address to its first element.
    """

    dtype: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    bytes: int
    offset: int = 0


@dataclass(frozen=True)
class Launch:
    """A launch that host code asked for.

    Attributes
    ----------
    function
        The kernel's name in the binary.
    grid, block
        Blocks, and threads of a block, in three dimensions.
    shared
        Bytes of dynamic shared memory.
    allowed
        How many of those the kernel might ask for at that time.
    refused
        Whether the chip would have refused it.
    """

    function: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    allowed: int
    refused: bool

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]


class Recorder:
    """The recorder that a loaded library is linked with.

    Parameters
    ----------
    library
        The loaded library.
    chip
        What it is told of the chip.
    """

    def __init__(self, library: ctypes.CDLL, chip: PersonaFacts) -> None:
        self._library = library
        told = chip.properties
        described = _Chip(
            name=str(told["name"]).encode()[:255], arch=chip.gcn_arch_name.encode()[:63], memory=chip.memory,
            l2=told["L2_cache_size"], warp=told["warp_size"], threads=chip.max_threads,
            shared=told["shared_memory_per_block"], shared_most=told["shared_memory_per_block_optin"],
            shared_all=told["shared_memory_per_multiprocessor"], multiprocessors=told["multi_processor_count"],
            threads_all=told["max_threads_per_multi_processor"], registers_all=chip.registers,
            major=chip.capability[0], minor=chip.capability[1], grid=chip.max_grid,
        )  # fmt: skip
        library.ka_begin(ctypes.byref(described))
        library.ka_launches.restype = ctypes.POINTER(_Launch)
        self._names = library[_error_name(library)]
        self._names.restype = ctypes.c_char_p

    def forget(self) -> None:
        """Begin anew: without launches, and without an error that nobody has asked for yet."""
        self._library.ka_forget()

    def launches(self, after: int = 0) -> list[Launch]:
        """Return the launches in order, but for the first ``after``."""
        seen = self._library.ka_launches()
        return [_read(seen[index]) for index in range(after, self._library.ka_kept())]

    def error(self, status: int) -> str:
        """Return the runtime's name of an error."""
        name: bytes = self._names(ctypes.c_int(status))
        return name.decode(errors="replace")


class Recorded:
    """A library with an entry, loaded.

    Parameters
    ----------
    library
        Its file.
    chip
        What it is told of the chip.

    Raises
    ------
    OSError
        If it cannot be loaded, as when it calls a function that neither its sources nor the recorder has.
    """

    def __init__(self, library: Path, chip: PersonaFacts) -> None:
        self._library = ctypes.CDLL(str(library))  # binds every symbol now
        self._recorder = Recorder(self._library, chip)
        self.error = self._recorder.error

    def call(self, arguments: Sequence[Described | bool | int | float]) -> tuple[int, list[Launch]]:
        """Call the entry; tensors get addresses that hold nothing.

        Returns
        -------
        int, list of Launch
            What it returned, zero for success, and the launches in order.

        Raises
        ------
        MemoryError
            If the address space does not hold the tensors.
        """
        self._recorder.forget()
        kept: list[object] = []
        given = [_argument(argument, kept) for argument in arguments]
        status = int(self._library[EXPORTED](*given, ctypes.c_void_p(None)))
        return status, self._recorder.launches()


def _error_name(library: ctypes.CDLL) -> str:
    return next(name for name in ("cudaGetErrorName", "hipGetErrorName") if hasattr(library, name))


def _argument(argument: Described | bool | int | float, kept: list[object]) -> object:
    if not isinstance(argument, Described):
        return number(argument)
    data = nowhere(argument.bytes + argument.offset, len(kept)) + argument.offset
    return structure(data, argument.dtype, argument.size, argument.stride, kept)


def number(value: bool | int | float) -> object:
    """Return a number as the entry takes it."""
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    return ctypes.c_int64(value) if isinstance(value, int) else ctypes.c_double(value)


def structure(data: int, dtype: str, size: Sequence[int], stride: Sequence[int], kept: list[object]) -> object:
    """Return a ``ka_tensor`` to be passed by its address.

    Parameters
    ----------
    data
        Where its first element lies.
    dtype
        torch's name.
    size, stride
        In elements.
    kept
        Holds what it points to.
    """
    rank = len(size)
    sizes, strides = (ctypes.c_int64 * rank)(*size), (ctypes.c_int64 * rank)(*stride)
    tensor = _Tensor(data=data, dtype=_DTYPES.index(dtype), ndim=rank, size=sizes, stride=strides)
    kept += [sizes, strides, tensor]
    return ctypes.byref(tensor)


@cache
def _reserve() -> Callable[..., Any]:
    function: Any = ctypes.CDLL(None, use_errno=True).mmap
    function.restype = ctypes.c_void_p
    function.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    ]  # fmt: skip
    return function  # type: ignore[no-any-return]


@cache
def nowhere(size: int, place: int) -> int:
    """Return an address of so many bytes that nothing may read or write, as device memory is to the host.

    No two of one call share it: they differ in ``place``.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    address = _reserve()(None, max(size, 1) + _ALIGNMENT, 0, flags, -1, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise MemoryError(f"cannot reserve {size} bytes of address space")
    return -(-int(address) // _ALIGNMENT) * _ALIGNMENT


def _read(launch: _Launch) -> Launch:
    return Launch(
        function=launch.function.decode(errors="replace"),
        grid=(launch.grid[0], launch.grid[1], launch.grid[2]),
        block=(launch.block[0], launch.block[1], launch.block[2]),
        shared=launch.shared, allowed=launch.allowed, refused=bool(launch.error),
    )  # fmt: skip
