"""Vector memory: buffer, global, flat and scratch instructions; loads, stores, atomics, and loads into local memory."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from kernelarena.platforms.emulator.assembly import Operand, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import M0
from kernelarena.platforms.emulator.batch import Batch
from kernelarena.platforms.emulator.fault import FaultKind, Unsupported
from kernelarena.platforms.emulator.instruction import Instruction, vital
from kernelarena.platforms.emulator.instructions.atomic import GLOBAL
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.lds import cells
from kernelarena.platforms.emulator.memory import AccessError
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units import transfer
from kernelarena.platforms.emulator.units.addressing import (
    Addressing,
    Reached,
    buffer_addressing,
    flat_addressing,
    global_addressing,
    scratch_addressing,
)
from kernelarena.platforms.emulator.units.widths import LOADS, STORES, Width
from kernelarena.platforms.emulator.waits import VECTOR_MEMORY

_NAME = re.compile(r"(buffer|global|flat|scratch)_(load|store|atomic)_(.+)$")
_OPERANDS = {"buffer": 3, "global": 2, "flat": 1, "scratch": 2}
"""How many operands say where."""
_NARROW_M0, _WIDE_M0 = 0xFFFF, 0x3FFFF
"""Bits of M0 that say where in local memory a load past the registers goes: those that the guides name, and those that
reach all of a workgroup's memory where it has more, as it may on gfx950, and as compilers rely on there."""


def decode_vector_memory(statement: Statement) -> Instruction | None:
    """Return the instruction, or None where the statement is none of this kind.

    Raises
    ------
    Unsupported
        For a form that is not modelled.
    """
    found = _NAME.match(statement.mnemonic)
    if found is None:
        return None
    family, action, form = found.groups()
    if action == "load" and (form.startswith("lds_") or "lds" in statement.modifiers):
        return _load_to_local(statement, family, form.removeprefix("lds_"))
    if action == "load" and form in LOADS:
        return _load(statement, family, LOADS[form])
    if action == "store" and form in STORES:
        return _store(statement, family, STORES[form])
    if action == "atomic":
        return _atomic(statement, family, form)
    raise Unsupported(statement.text)


def _addressing(statement: Statement, family: str, operands: tuple[Operand, ...], size: int) -> Addressing:
    if len(operands) != _OPERANDS[family]:
        raise Unsupported(statement.text)
    if family == "buffer":
        return buffer_addressing(statement, operands, size)
    if family == "global":
        return global_addressing(statement, operands)
    return flat_addressing(statement, operands) if family == "flat" else scratch_addressing(statement, operands)


def _load(statement: Statement, family: str, width: Width) -> Instruction:
    target, *rest = statement.operands
    first = _vector(target, statement)
    addressing = _addressing(statement, family, tuple(rest), width.size)
    targets = tuple(range(first, first + width.registers))

    def load(batch: Batch, group: Group) -> None:
        reached = addressing.where(batch, group)
        if reached.inside is None:
            values = _fetch(batch, group, family, reached, width.size)
        else:
            values = _fetch_by_word(batch, reached, width.size)
        width.into(group, first, values)
        batch.waits.issue(group, VECTOR_MEMORY, targets)

    reads = addressing.reads
    return Instruction(statement, "memory", None, reads, targets, vital(reads), load, queue=VECTOR_MEMORY)


def _fetch(batch: Batch, group: Group, family: str, reached: Reached, size: int) -> Array:
    if family == "flat":
        local = batch.in_local(reached.addresses) & reached.active
        if local.any():
            values = transfer.load(batch.local.read, batch.places(group, reached.addresses), local, size)
            rest = reached.active & ~local
            return np.where(rest[..., None], transfer.load(batch.memory.read, reached.addresses, rest, size), values)
    return transfer.load(batch.memory.read, reached.addresses, reached.active, size)


def _fetch_by_word(batch: Batch, reached: Reached, size: int) -> Array:
    """Read where a descriptor ends within what a lane reads: word by word."""
    assert reached.inside is not None
    width = min(size, 4)
    exec_ = reached.active | reached.inside.any(axis=-1)
    words = [
        transfer.load(batch.memory.read, reached.addresses + 4 * place, exec_ & reached.inside[..., place], width)
        for place in range(max(1, size // 4))
    ]
    return np.concatenate(words, axis=-1)


def _store(statement: Statement, family: str, width: Width) -> Instruction:
    operands = statement.operands
    data, place = (operands[0], operands[1:]) if family == "buffer" else (operands[1], (operands[0], *operands[2:]))
    first = _vector(data, statement)
    addressing = _addressing(statement, family, place, width.size)
    sources = tuple(range(first, first + width.registers))

    def store(batch: Batch, group: Group) -> None:
        reached = addressing.where(batch, group)
        values = width.taken(transfer.gather_registers(group, first, width.registers))
        if reached.inside is not None:
            for word in range(width.registers):
                active = group.exec & reached.inside[..., word]
                addresses = reached.addresses + 4 * word
                transfer.store(batch.memory.write, addresses, values[..., word : word + 1], active, min(width.size, 4))
        else:
            active = reached.active
            if family == "flat":
                local = batch.in_local(reached.addresses) & active
                transfer.store(batch.local.write, batch.places(group, reached.addresses), values, local, width.size)
                active = active & ~local
            transfer.store(batch.memory.write, reached.addresses, values, active, width.size)
        batch.waits.issue(group, VECTOR_MEMORY, ())

    acted_on = vital(addressing.reads) | vital(sources, width.bits)
    return Instruction(statement, "memory", None, (*addressing.reads, *sources), (), acted_on, store)


def _atomic(statement: Statement, family: str, form: str) -> Instruction:
    swaps = form in ("cmpswap", "cmpswap_x2")
    if (not swaps and form not in GLOBAL) or family == "scratch":
        raise Unsupported(statement.text)
    size = (8 if form.endswith("x2") else 4) if swaps else GLOBAL[form].size
    words = size // 4
    returns = "sc0" in statement.modifiers or "glc" in statement.modifiers
    operands = list(statement.operands)
    # buffer: the data is also where the old value goes; global: that has its own operand in front.
    target = _vector(operands.pop(0), statement) if returns and family != "buffer" else -1
    data = operands.pop(0 if family == "buffer" else 1)
    first = _vector(data, statement)
    target = first if returns and family == "buffer" else target
    addressing = _addressing(statement, family, tuple(operands), size)
    sources = tuple(range(first, first + words * (2 if swaps else 1)))

    def operate(batch: Batch, group: Group) -> None:
        reached = addressing.where(batch, group)
        _check_aligned(reached, size)
        values = transfer.gather_registers(group, first, len(sources))
        memory, local = batch.memory, batch.local
        if swaps:  # the new value comes first
            change = partial(transfer.compare_and_swap, values[..., words:], values[..., :words], size)
        else:
            change = partial(transfer.update, values, GLOBAL[form])
        outside = reached.active
        if family == "flat":
            inside = batch.in_local(reached.addresses) & reached.active
            outside = reached.active & ~inside
            places = batch.places(group, reached.addresses)
            before = change(local.read_for_update, local.update, places, inside, cells)
            before = before + change(memory.read, memory.write, reached.addresses, outside, _same)
        else:
            before = change(memory.read, memory.write, reached.addresses, outside, _same)
        if returns:
            transfer.scatter_registers(group, target, before)
        batch.waits.issue(group, VECTOR_MEMORY, targets)

    targets = tuple(range(target, target + words)) if returns else ()
    reads = (*addressing.reads, *sources)
    return Instruction(statement, "memory", None, reads, targets, vital(reads), operate, queue=VECTOR_MEMORY)


def _same(addresses: Array) -> Array:
    return addresses


def _check_aligned(reached: Reached, size: int) -> None:
    wrong = (reached.addresses & (size - 1) != 0) & reached.active
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        words = f"atomic of {size} bytes at {int(reached.addresses.reshape(-1)[index]):#x}"
        raise AccessError(FaultKind.MISALIGNED, index, words)


def _load_to_local(statement: Statement, family: str, form: str) -> Instruction:
    """Load past the registers: M0 says where to, and lanes follow one another."""
    width = LOADS.get(form)
    if width is None or width.half:
        raise Unsupported(statement.text)
    addressing = _addressing(statement, family, statement.operands, width.size)
    stride = max(4, width.size)
    fixed = statement.number("offset")

    def load(batch: Batch, group: Group) -> None:
        reached = addressing.where(batch, group)
        values = transfer.load(batch.memory.read, reached.addresses, reached.active, width.size)
        bits = _NARROW_M0 if batch.local.size <= _NARROW_M0 else _WIDE_M0
        base = (group.scalar(M0) & np.uint32(bits)).astype(np.int64)[:, None] + fixed
        places = batch.places(group, base + stride * np.arange(LANES))
        transfer.store(batch.local.write, places, width.extended(values), group.exec, stride)
        batch.waits.issue(group, VECTOR_MEMORY, ())

    reads = (*addressing.reads, M0)
    return Instruction(statement, "memory", None, reads, (), vital(reads), load)


def _vector(operand: Operand, statement: Statement) -> int:
    if not isinstance(operand.value, Register) or operand.value.scalar:
        raise Unsupported(statement.text)
    return operand.value.first
