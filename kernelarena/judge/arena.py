"""How the tensors of one call lie in shared memory: inputs behind fences, outputs between guard bands.

* **Inputs.** Each tensor ends at a stretch that faults when it is read (where the memory can do that), and is
  surrounded by poison. After the call the judge compares inputs and bands with what it wrote.
* **Outputs.** What the kernel's host code allocates is carved out of memory full of poison, with bands between one
  allocation and the next. After the call every byte outside the allocations must still be poison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import torch
from pydantic import Field
from torch.utils.dlpack import from_dlpack

from kernelarena.judge.memory import Exchange, Fence, HostExchange, round_up
from kernelarena.spec.base import Model

POISONS = (0xFF, 0xFB)
"""Fill bytes: the first is NaN in every float format and -1 in integers; the second is a large finite number."""
INPUT_POISON = 0x7F
"""Fills what lies between and around inputs. A large positive number or NaN in every float format, so that it shows in
sums and maxima; unlike the poisons of outputs, so that what a kernel copies from there is not taken for unwritten."""
GAP = 4096
"""Bytes that bands are multiples of."""
_MIN_BAND = 4 * GAP
_MAX_BAND = 256 * GAP
_MOST_WORKSPACE = 1 << 28
"""Bytes beyond the outputs themselves; what needs more gets it from the ordinary allocator."""
_CHUNK = 1 << 28
"""Bytes that are compared at a time: a comparison makes a mask as large as what it compares."""


class Place(Model):
    """Where a tensor lies in shared memory."""

    dtype: str
    """torch's name for it."""
    size: tuple[Annotated[int, Field(ge=0)], ...]
    stride: tuple[int, ...]
    """In elements."""
    start: Annotated[int, Field(ge=0)]
    """Bytes from the start of the memory to its first element."""

    @property
    def length(self) -> int:
        """Bytes from its first element to its last one, inclusive."""
        return extent(self.size, self.stride) * itemsize(self.dtype)


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


def spread(tensor: torch.Tensor) -> torch.Tensor:
    """Return the elements from the first to the last one of a strided tensor, those between its rows included."""
    return tensor.as_strided((extent(tensor.shape, tensor.stride()),), (1,))


def tensor_at(memory: torch.Tensor, place: Place) -> torch.Tensor:
    """Return a tensor over some bytes.

    Parameters
    ----------
    memory
        ``uint8``, one dimension.
    place
        Where in it.

    Raises
    ------
    ValueError
        If the place does not lie within them, or a stride is negative.
    """
    dtype = torch_dtype(place.dtype)
    if len(place.size) != len(place.stride) or any(step < 0 for step in place.stride):
        raise ValueError(f"a tensor of size {place.size} cannot have strides {place.stride}")
    length = place.length
    if place.start + length > memory.numel():
        raise ValueError(f"a tensor of {length} bytes at {place.start} lies outside {memory.numel()} bytes")
    if length == 0:
        return torch.empty_strided(place.size, place.stride, dtype=dtype, device=memory.device)
    if place.start % dtype.itemsize:
        raise ValueError(f"a {place.dtype} tensor cannot start at byte {place.start}")
    # Its own storage, which keeps the memory: what is known of a tensor is kept by storage, and two allocations of a
    # kernel must not be taken for one.
    flat = from_dlpack(memory[place.start : place.start + length])
    return flat.view(dtype).as_strided(place.size, place.stride)


class InputArena:
    """The judge's side of the inputs of one call, or of several calls whose inputs lie at the same addresses.

    Parameters
    ----------
    arguments
        What the entry is called with, in order: tensors of any layout, and scalars.
    exchange
        Where the memory comes from.
    poison
        The byte that fills everything that is not an input.
    changing
        The one that a call may change, where its operator works in place.
    """

    def __init__(
        self,
        arguments: Mapping[str, object],
        exchange: Exchange | None = None,
        poison: int = INPUT_POISON,
        *,
        changing: str | None = None,
    ) -> None:
        self.changing = changing
        self._exchange = exchange or HostExchange()
        self._poison = poison
        self.arguments: list[Place | Scalar] = []
        self.fences: list[Fence] = []
        self._places: dict[str, Place] = {}
        cursor = 0
        for name, value in arguments.items():
            if isinstance(value, torch.Tensor):
                place, cursor = self._place(value, cursor)
                self.arguments.append(place)
                self._places[name] = place
            elif isinstance(value, bool | int | float):
                self.arguments.append(Scalar(value=value))
            else:
                raise TypeError(f"input '{name}' is a {type(value).__name__}; inputs are tensors, numbers or booleans")
        self.memory = self._exchange.allocate(cursor, self.fences)
        self.write(arguments)

    def write(self, arguments: Mapping[str, object]) -> None:
        """Lay out other values at the same addresses.

        Parameters
        ----------
        arguments
            As those that the arena was made for: equal names, sizes, strides and dtypes.
        """
        self.put(self.laid_out(arguments))

    def laid_out(self, arguments: Mapping[str, object]) -> torch.Tensor:
        """Return every byte of the memory as it is when it holds some values; see `write`."""
        image = torch.full_like(self.memory.bytes, self._poison)
        for name, place in self._places.items():
            value = arguments[name]
            assert isinstance(value, torch.Tensor)
            tensor_at(image, place).copy_(value)
        return image

    def put(self, image: torch.Tensor) -> None:
        """Write every byte of the memory, as `laid_out` returned it."""
        self._written = image
        self.memory.bytes.copy_(image)
        self.memory.publish()

    def renew(self) -> None:
        """Write the inputs once more, where the call before may have changed one."""
        if self.changing is not None:
            self.put(self._written)

    def changed(self) -> torch.Tensor | None:
        """Return a copy of the input that calls may change, as it is now."""
        if self.changing is None:
            return None
        place = self._places[self.changing]
        return tensor_at(self.memory.bytes, place).clone(memory_format=torch.contiguous_format)

    def _place(self, value: torch.Tensor, cursor: int) -> tuple[Place, int]:
        page, alignment = self._exchange.page if self._exchange.fenced else GAP, self._exchange.alignment
        size, stride, width = tuple(value.shape), tuple(value.stride()), value.element_size()
        length = extent(size, stride) * width
        misaligned = int(value.storage_offset()) * width % alignment
        start = cursor + band(length)  # a page boundary, as cursor and bands are whole pages
        end = round_up(start + round_up(length + misaligned, alignment), page)
        if length and self._exchange.fenced:
            start = end - round_up(length + misaligned, alignment) + misaligned
            self.fences.append((end, page))
        elif length:
            start += misaligned
        place = Place(dtype=dtype_name(value.dtype), size=size, stride=stride, start=start)
        return place, end + (page if self._exchange.fenced else band(length))

    def mutated(self) -> str | None:
        """Return the name of an input that the call changed, or None."""
        for name, place in self._places.items():
            if name == self.changing:
                continue
            span = slice(place.start, place.start + place.length)
            if not torch.equal(self.memory.bytes[span], self._written[span]):
                return name
        return None

    def overrun(self) -> str | None:
        """Return a description of bytes around the inputs that the call changed, or None."""
        expected = self._written
        if self.changing is not None:  # between the rows of a strided tensor nothing may change either
            expected, place = expected.clone(), self._places[self.changing]
            tensor_at(expected, place).copy_(tensor_at(self.memory.bytes, place))
        if torch.equal(self.memory.bytes, expected):
            return None
        count, first = _differences(self.memory.bytes, expected)
        before = [(place.start, name) for name, place in self._places.items()]
        name = next((name for start, name in sorted(before, reverse=True) if start <= first), next(iter(self._places)))
        return f"{count} bytes around input '{name}' were overwritten"

    def close(self) -> None:
        """Give the memory back."""
        self.memory.close()


class OutputArena:
    """The judge's side of what a kernel allocates during one call.

    Parameters
    ----------
    expected_bytes
        Size of all outputs together; room for several times that is made, since kernels need workspaces.
    poison
        The byte that fills it.
    exchange
        Where the memory comes from.
    """

    def __init__(self, expected_bytes: int, poison: int, exchange: Exchange | None = None) -> None:
        exchange = exchange or HostExchange()
        self.poison = poison
        workspace = min(round_up(3 * expected_bytes, GAP), _MOST_WORKSPACE)
        self.returned = _MIN_BAND + round_up(expected_bytes, GAP) + workspace + 32 * _MIN_BAND
        self.memory = exchange.allocate(self.returned + round_up(expected_bytes, GAP) + 16 * GAP)
        self.refill()

    def refill(self) -> None:
        """Fill all of it with the poison once more."""
        self.memory.bytes.fill_(self.poison)
        self.memory.publish()

    def overrun(self, blocks: Sequence[Block]) -> str | None:
        """Return a description of bytes outside all allocations that the call changed, or None.

        Raises
        ------
        ValueError
            If an allocation does not lie within the memory.
        """
        count, first, cursor = 0, -1, 0
        for block in [*sorted(blocks, key=lambda block: block.start), Block(start=self.returned, bytes=0)]:
            if block.start + block.bytes > self.returned:
                raise ValueError("an allocation lies outside the memory that was handed out")
            if block.start > cursor and not self._is_poison(cursor, block.start):
                span = self.memory.bytes[cursor : block.start]
                found, where = _differences(span, torch.full_like(span, self.poison))
                count += found
                first = cursor + where if first < 0 else first
            cursor = max(cursor, block.start + block.bytes)
        if not count:
            return None
        ends = [block.start + block.bytes for block in blocks if block.start + block.bytes <= first]
        where_to = (
            f"starting {first - max(ends)} bytes past the end of an allocation" if ends else "before the first one"
        )
        return f"{count} bytes outside every allocation were overwritten, {where_to}"

    def _is_poison(self, start: int, stop: int) -> bool:
        for first in range(start, stop, _CHUNK):
            if not bool((self.memory.bytes[first : min(first + _CHUNK, stop)] == self.poison).all()):
                return False
        return True

    def tensor(self, place: Place) -> torch.Tensor:
        """Return what lies at a place.

        Raises
        ------
        ValueError
            If the place does not lie within the memory.
        """
        return tensor_at(self.memory.bytes, place)

    def close(self) -> None:
        """Give the memory back."""
        self.memory.close()


class Allocator:
    """The candidate's side of an output arena: hands out poisoned memory with a band on both sides.

    Parameters
    ----------
    memory
        The shared bytes.
    limit
        Bytes from the start that may be handed out; what follows is where outputs are returned.
    alignment
        Bytes that allocations start at multiples of.
    """

    def __init__(self, memory: torch.Tensor, limit: int, alignment: int = HostExchange.alignment) -> None:
        self.memory = memory
        self.limit = limit
        self.blocks: list[Block] = []
        self._alignment = alignment
        self._cursor = _MIN_BAND
        self._returned = limit

    def allocate(self, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> torch.Tensor | None:
        """Return an uninitialised (poisoned) tensor, or None when it does not fit."""
        length = extent(size, stride) * dtype.itemsize
        beside = band(length)
        if length == 0 or self._cursor + length + beside > self.limit:
            return None
        place = Place(dtype=dtype_name(dtype), size=tuple(size), stride=tuple(stride), start=self._cursor)
        self.blocks.append(Block(start=place.start, bytes=length))
        self._cursor += round_up(length, self._alignment) + beside
        return tensor_at(self.memory, place)

    def give_back(self, output: torch.Tensor) -> Place | None:
        """Say where the judge finds an output; what lies elsewhere is copied to where it can be read.

        None when it does not fit there: it is too large to be right.
        """
        if (place := self._place_of(output)) is not None:
            return place
        length = output.numel() * output.element_size()
        if self._returned + length > self.memory.numel():
            return None
        stride = torch.empty(output.shape, device="meta").stride()
        place = Place(dtype=dtype_name(output.dtype), size=tuple(output.shape), stride=stride, start=self._returned)
        if length:
            tensor_at(self.memory, place).copy_(output)
        self._returned = round_up(self._returned + length, self._alignment)
        return place

    def forget_returned(self) -> None:
        """Return outputs to the same places once more."""
        self._returned = self.limit

    def _place_of(self, output: torch.Tensor) -> Place | None:
        if not output.numel() or any(step < 0 for step in output.stride()):
            return None
        if output.is_conj() or output.is_neg():  # the bytes are not the values
            return None
        start = output.data_ptr() - self.memory.data_ptr()
        place = Place.model_construct(
            dtype=dtype_name(output.dtype), size=tuple(output.shape), stride=tuple(output.stride()), start=start
        )
        inside = start >= 0 and start + place.length <= self.limit
        return place if inside else None


def describe_place(place: Place | None) -> dict[str, Any] | None:
    """Return a place as plain data."""
    return None if place is None else place.model_dump()


def band(length: int) -> int:
    """Return the bytes of poison beside an allocation: as long as it is itself, within bounds, in whole gaps."""
    return min(max(round_up(length, GAP), _MIN_BAND), _MAX_BAND)


def _differences(left: torch.Tensor, right: torch.Tensor) -> tuple[int, int]:
    """Return how many bytes differ, and the first that does (-1 for none)."""
    count, first = 0, -1
    for start in range(0, left.numel(), _CHUNK):
        changed = (left[start : start + _CHUNK] != right[start : start + _CHUNK]).nonzero()
        if first < 0 and changed.numel():
            first = start + int(changed[0])
        count += changed.shape[0]
    return count, first
