"""Memory that the judge and a candidate share for one call: inputs behind fences, outputs between guard bands.

The judge creates two files in memory, fills them, and hands the descriptors over; both sides map the same pages.

* **Inputs.** Each tensor ends at a page that the candidate makes inaccessible, so that reading past its end is a fault
  at the very access, and is preceded by a band of poison. After the call the judge compares inputs and bands with
  what it wrote.
* **Outputs.** What the kernel's host code allocates is carved out of a file full of poison, with bands between one
  allocation and the next. After the call every byte outside the allocations must still be poison.

Sizes are sealed: a candidate cannot shrink a file under the judge's feet.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field

from kernelarena.spec.base import Model

PAGE = mmap.PAGESIZE
ALIGNMENT = 16
"""Bytes; what a device allocator gives at least, and what compilers specialise on."""
POISONS = (0xFF, 0xFB)
"""Fill bytes: the first is NaN in every float format and -1 in integers; the second is a large finite number."""
INPUT_POISON = 0x7F
"""Fills what lies between and around inputs. A large positive number or NaN in every float format, so that it shows in
sums and maxima; unlike the poisons of outputs, so that what a kernel copies from there is not taken for unwritten."""
_MIN_BAND = 4 * PAGE
_MAX_BAND = 256 * PAGE


class Place(Model):
    """Where a tensor lies in a shared file."""

    dtype: str
    """torch's name for it."""
    size: tuple[Annotated[int, Field(ge=0)], ...]
    stride: tuple[int, ...]
    """In elements."""
    start: Annotated[int, Field(ge=0)]
    """Bytes from the start of the file to its first element."""


class Scalar(Model):
    """An argument that is no tensor."""

    value: bool | int | float


class Block(Model):
    """An allocation that a candidate says it made."""

    start: Annotated[int, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0)]


def itemsize(dtype: str) -> int:
    """Return the bytes per element of a torch dtype, by name."""
    return int(torch_dtype(dtype).itemsize)


def dtype_name(dtype: torch.dtype) -> str:
    """Return torch's name of a dtype, without the module."""
    return str(dtype).removeprefix("torch.")


def torch_dtype(name: str) -> torch.dtype:
    """Return the torch dtype of that name.

    Raises
    ------
    ValueError
        If torch has none of that name.
    """
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"'{name}' is not a dtype of torch")
    return dtype


def extent(size: Sequence[int], stride: Sequence[int]) -> int:
    """Return the elements from the first to the last one of a strided tensor, inclusive."""
    if any(length == 0 for length in size):
        return 0
    return 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))


def round_up(value: int, step: int) -> int:
    """Return the smallest multiple of ``step`` that is not below ``value``."""
    return -(-value // step) * step


class SharedFile:
    """An anonymous file in memory, mapped into this process; its size can never change.

    Parameters
    ----------
    size
        Bytes; rounded up to pages.
    """

    def __init__(self, size: int) -> None:
        size = max(PAGE, round_up(size, PAGE))
        self.descriptor = os.memfd_create("arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seals)
        self.memory = mmap.mmap(self.descriptor, size)
        self.bytes: npt.NDArray[np.uint8] = np.frombuffer(self.memory, dtype=np.uint8)

    def tensor(self, place: Place) -> torch.Tensor:
        """Return a tensor over the shared pages.

        Raises
        ------
        ValueError
            If the place does not lie within the file.
        """
        return tensor_at(self.bytes, place)

    def close(self) -> None:
        """Close the descriptor; pages go when the last mapping does."""
        os.close(self.descriptor)


def tensor_at(memory: npt.NDArray[np.uint8], place: Place) -> torch.Tensor:
    """Return a tensor over some bytes.

    Raises
    ------
    ValueError
        If the place does not lie within them, or a stride is negative.
    """
    dtype = torch_dtype(place.dtype)
    if len(place.size) != len(place.stride) or any(step < 0 for step in place.stride):
        raise ValueError(f"a tensor of size {place.size} cannot have strides {place.stride}")
    length = extent(place.size, place.stride) * dtype.itemsize
    if place.start + length > memory.size:
        raise ValueError(f"a tensor of {length} bytes at {place.start} lies outside {memory.size} bytes")
    if length == 0:
        return torch.empty_strided(place.size, place.stride, dtype=dtype)
    if place.start % dtype.itemsize:
        raise ValueError(f"a {place.dtype} tensor cannot start at byte {place.start}")
    flat = torch.from_numpy(memory[place.start : place.start + length]).view(dtype)
    return flat.as_strided(place.size, place.stride)


class InputArena:
    """The judge's side of the inputs of one call.

    Parameters
    ----------
    arguments
        What the entry is called with, in order: tensors of any layout, and scalars.
    poison
        The byte that fills everything that is not an input.
    """

    def __init__(self, arguments: Mapping[str, object], poison: int = INPUT_POISON) -> None:
        self.arguments: list[Place | Scalar] = []
        self.fences: list[tuple[int, int]] = []
        tensors: list[tuple[Place, torch.Tensor]] = []
        cursor = 0
        for name, value in arguments.items():
            if isinstance(value, torch.Tensor):
                place, cursor = self._place(value, cursor)
                self.arguments.append(place)
                tensors.append((place, value))
            elif isinstance(value, bool | int | float):
                self.arguments.append(Scalar(value=value))
            else:
                raise TypeError(f"input '{name}' is a {type(value).__name__}; inputs are tensors, numbers or booleans")
        self.file = SharedFile(cursor)
        self.file.bytes[:] = poison
        for place, value in tensors:
            self.file.tensor(place).copy_(value)
        self._written = self.file.bytes.copy()
        self._tensors = [place for place, _ in tensors]
        self._names = [name for name, value in arguments.items() if isinstance(value, torch.Tensor)]

    def _place(self, value: torch.Tensor, cursor: int) -> tuple[Place, int]:
        size, stride, width = tuple(value.shape), tuple(value.stride()), value.element_size()
        length = extent(size, stride) * width
        misaligned = int(value.storage_offset()) * width % ALIGNMENT
        start = cursor + _band(length)  # a page boundary, as cursor and bands are whole pages
        end = round_up(start + round_up(length + misaligned, ALIGNMENT), PAGE)
        start = end - round_up(length + misaligned, ALIGNMENT) + misaligned if length else start
        if length:
            self.fences.append((end, PAGE))
        return Place(dtype=dtype_name(value.dtype), size=size, stride=stride, start=start), end + PAGE

    def mutated(self) -> str | None:
        """Return the name of an input that the call changed, or None."""
        for name, place in zip(self._names, self._tensors, strict=True):
            length = extent(place.size, place.stride) * itemsize(place.dtype)
            span = slice(place.start, place.start + length)
            if not np.array_equal(self.file.bytes[span], self._written[span]):
                return name
        return None

    def overrun(self) -> str | None:
        """Return a description of bytes around the inputs that the call changed, or None."""
        changed = np.flatnonzero(self.file.bytes != self._written)
        if not changed.size:
            return None
        first = int(changed[0])
        before = [(place.start, name) for name, place in zip(self._names, self._tensors, strict=True)]
        name = next((name for start, name in sorted(before, reverse=True) if start <= first), self._names[0])
        return f"{changed.size} bytes around input '{name}' were overwritten"

    def close(self) -> None:
        """Give the pages back."""
        self.file.close()


class OutputArena:
    """The judge's side of what a kernel allocates during one call.

    Parameters
    ----------
    expected_bytes
        Size of all outputs together; room for several times that is made, since kernels need workspaces.
    poison
        The byte that fills it.
    """

    def __init__(self, expected_bytes: int, poison: int) -> None:
        self.poison = poison
        self.returned = _MIN_BAND + round_up(4 * expected_bytes, PAGE) + 32 * _MIN_BAND
        self.file = SharedFile(self.returned + round_up(expected_bytes, PAGE) + 16 * PAGE)
        self.file.bytes[:] = poison

    def overrun(self, blocks: Sequence[Block]) -> str | None:
        """Return a description of bytes outside all allocations that the call changed, or None."""
        untouched = np.ones(self.returned, dtype=bool)
        for block in blocks:
            untouched[block.start : block.start + block.bytes] = False
        changed = np.flatnonzero((self.file.bytes[: self.returned] != self.poison) & untouched)
        if not changed.size:
            return None
        first = int(changed[0])
        ends = [block.start + block.bytes for block in blocks if block.start + block.bytes <= first]
        where = f"starting {first - max(ends)} bytes past the end of an allocation" if ends else "before the first one"
        return f"{changed.size} bytes outside every allocation were overwritten, {where}"

    def close(self) -> None:
        """Give the pages back."""
        self.file.close()


class Allocator:
    """The candidate's side of an output arena: hands out poisoned memory with a band on both sides.

    Parameters
    ----------
    descriptor
        The shared file; it is mapped and closed.
    limit
        Bytes from the start that may be handed out; what follows is where outputs are returned.
    """

    def __init__(self, descriptor: int, limit: int) -> None:
        size = os.fstat(descriptor).st_size
        self.memory = np.frombuffer(mmap.mmap(descriptor, size), dtype=np.uint8)
        os.close(descriptor)
        self.limit = limit
        self.blocks: list[Block] = []
        self._cursor = _MIN_BAND
        self._returned = limit

    def allocate(self, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> torch.Tensor | None:
        """Return an uninitialised (poisoned) tensor, or None when it does not fit."""
        length = extent(size, stride) * dtype.itemsize
        band = _band(length)
        if length == 0 or self._cursor + length + band > self.limit:
            return None
        place = Place(dtype=dtype_name(dtype), size=tuple(size), stride=tuple(stride), start=self._cursor)
        self.blocks.append(Block(start=place.start, bytes=length))
        self._cursor += round_up(length, ALIGNMENT) + band
        return tensor_at(self.memory, place)

    def give_back(self, output: torch.Tensor) -> Place | None:
        """Copy an output to where the judge reads it; None when it does not fit (it is too large to be right)."""
        length = output.numel() * output.element_size()
        if self._returned + length > self.memory.size:
            return None
        stride = torch.empty(output.shape, device="meta").stride()
        place = Place(dtype=dtype_name(output.dtype), size=tuple(output.shape), stride=stride, start=self._returned)
        if length:
            tensor_at(self.memory, place).copy_(output)
        self._returned = round_up(self._returned + length, ALIGNMENT)
        return place


def map_inputs(descriptor: int, fences: Sequence[tuple[int, int]]) -> npt.NDArray[np.uint8]:
    """Map the shared inputs in a candidate and make the fences inaccessible.

    Raises
    ------
    OSError
        If the pages cannot be protected.
    """
    size = os.fstat(descriptor).st_size
    memory = np.frombuffer(mmap.mmap(descriptor, size), dtype=np.uint8)
    os.close(descriptor)
    libc = ctypes.CDLL(None, use_errno=True)
    base = memory.ctypes.data
    for start, length in fences:
        if libc.mprotect(ctypes.c_void_p(base + start), ctypes.c_size_t(length), 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot protect the pages behind an input")
    return memory


def _band(length: int) -> int:
    """Bytes of poison beside an allocation: as long as it is itself, within bounds, in whole pages."""
    return min(max(round_up(length, PAGE), _MIN_BAND), _MAX_BAND)
