"""Where vector memory instructions go: buffers through descriptors, global and flat addresses, scratch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernelarena.platforms.emulator.assembly import Constant, Operand, Register, Statement, Symbol
from kernelarena.platforms.emulator.assembly.operands import VECTOR
from kernelarena.platforms.emulator.batch import Batch
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instructions.kinds import KINDS
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.descriptor import Descriptor
from kernelarena.platforms.emulator.units.reading import joined
from kernelarena.platforms.emulator.units.scalar import scalar_reader

_LANE = np.arange(LANES)


@dataclass(frozen=True)
class Reached:
    """Where the lanes of a group go.

    Attributes
    ----------
    addresses
        ``int64[waves, 64]``.
    active
        ``bool[waves, 64]``: lanes that access anything.
    inside
        ``bool[waves, 64, words]`` where a descriptor leaves out some words of a lane, else None.
    """

    addresses: Array
    active: Array
    inside: Array | None = None


Where = Callable[[Batch, Group], Reached]


@dataclass(frozen=True)
class Addressing:
    """How an instruction finds its addresses.

    Attributes
    ----------
    where
        Finds them.
    reads
        The registers that it takes.
    """

    where: Where
    reads: tuple[int, ...]


def buffer_addressing(statement: Statement, operands: tuple[Operand, ...], size: int) -> Addressing:
    """Return how ``vaddr, srsrc, soffset`` and the modifiers ``offen``, ``idxen`` and ``offset`` address.

    Raises
    ------
    Unsupported
        For a form that is not modelled.
    """
    lane, resource, scalar = operands
    if not isinstance(resource.value, Register) or not resource.value.scalar:
        raise Unsupported(statement.text)
    first, fixed = resource.value.first, statement.number("offset")
    indexed, by_lane = "idxen" in statement.modifiers, "offen" in statement.modifiers
    vector = lane.value.first if isinstance(lane.value, Register) else -1
    if (indexed or by_lane) != (vector >= VECTOR):
        raise Unsupported(statement.text)
    by_wave = scalar_reader(scalar, KINDS["u32"], statement)

    def where(batch: Batch, group: Group) -> Reached:
        descriptor = Descriptor(group.scalars(first, 4))
        index = group.vector(vector).astype(np.int64) if indexed else None
        offset: Array = np.full((1, 1), fixed, np.int64)
        if by_lane:
            offset = group.vector(vector + indexed).astype(np.int64) + fixed
        scalar_offset = by_wave(group).astype(np.int64)[:, None]
        addresses, inside = descriptor.addresses(index, offset, scalar_offset, size)
        if descriptor.by_thread:  # scratch, whose lanes lie side by side
            addresses = addresses + _LANE * batch.scratch_size
        active = group.exec & inside[..., 0]
        return Reached(addresses, active, None if _uniform(inside) else inside)

    reads = (*_numbers(lane), *_numbers(resource), *_numbers(scalar))
    return Addressing(where, reads)


def _uniform(inside: Array) -> bool:
    return inside.shape[-1] == 1 or bool((inside[..., :1] == inside).all())


def global_addressing(statement: Statement, operands: tuple[Operand, ...]) -> Addressing:
    """Return how ``vaddr, saddr|off`` and ``offset`` address."""
    lane, base = operands
    fixed = statement.number("offset")
    if not isinstance(lane.value, Register) or lane.value.scalar:
        raise Unsupported(statement.text)
    vector = lane.value.first
    if isinstance(base.value, Symbol) and base.value.text == "off":

        def where(batch: Batch, group: Group) -> Reached:
            return Reached(_joined(group, vector) + fixed, group.exec)

    elif isinstance(base.value, Register) and base.value.scalar:
        scalar = base.value.first

        def where(batch: Batch, group: Group) -> Reached:
            bases = group.pair(scalar).astype(np.int64)[:, None]
            return Reached(bases + group.vector(vector).astype(np.int64) + fixed, group.exec)

    else:
        raise Unsupported(statement.text)
    return Addressing(where, (*_numbers(lane), *_numbers(base)))


def flat_addressing(statement: Statement, operands: tuple[Operand, ...]) -> Addressing:
    """Return how a pair of registers and ``offset`` address."""
    (lane,) = operands
    fixed = statement.number("offset")
    if not isinstance(lane.value, Register) or lane.value.scalar:
        raise Unsupported(statement.text)
    vector = lane.value.first

    def where(batch: Batch, group: Group) -> Reached:
        return Reached(batch.flat_addresses(group, _joined(group, vector) + fixed), group.exec)

    return Addressing(where, _numbers(lane))


def scratch_addressing(statement: Statement, operands: tuple[Operand, ...]) -> Addressing:
    """Return how ``vaddr|off, saddr|off`` and ``offset`` address a lane's own scratch."""
    lane, scalar = operands
    fixed = statement.number("offset")
    vector = lane.value.first if isinstance(lane.value, Register) else None
    by_wave = None
    if not isinstance(scalar.value, Symbol):
        by_wave = scalar_reader(scalar, KINDS["i32"], statement)

    def where(batch: Batch, group: Group) -> Reached:
        offset: Array = np.full((group.count, LANES), fixed, np.int64)
        if vector is not None:
            offset += group.vector(vector).view(np.int32)
        if by_wave is not None:
            offset += by_wave(group)[:, None]
        return Reached(batch.scratch_addresses(group, offset), group.exec)

    return Addressing(where, (*_numbers(lane), *_numbers(scalar)))


def _joined(group: Group, vector: int) -> Array:
    return joined(group.vector(vector), group.vector(vector + 1)).view(np.int64)


def _numbers(operand: Operand) -> tuple[int, ...]:
    value = operand.value
    if isinstance(value, Constant | Symbol):
        return ()
    return value.all
