"""Local memory instructions: reads, writes, atomics, and moves between lanes that use its wires alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from kernelarena.platforms.emulator.assembly import Operand, Register, Statement
from kernelarena.platforms.emulator.batch import Batch
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction, vital
from kernelarena.platforms.emulator.instructions.atomic import LOCAL as ATOMICS
from kernelarena.platforms.emulator.lanes import LANES, Array
from kernelarena.platforms.emulator.lds import cells
from kernelarena.platforms.emulator.shadow import ShadowView
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units import transfer
from kernelarena.platforms.emulator.units.swizzle import swizzled_lanes
from kernelarena.platforms.emulator.units.widths import Width
from kernelarena.platforms.emulator.waits import LOCAL

_PLAIN = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16}
_NARROW = re.compile(r"([ui])(8|16)(_d16(?:_hi)?)?$")
_PAIRS = re.compile(r"ds_(read|write)2(st64)?_b(32|64)$")
_TRANSPOSED = {"b64_tr_b16": 4, "b64_tr_b8": 8}
"""Transposing reads, and the elements of each lane."""
_MOVES = ("ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32")


def names() -> Iterator[str]:
    """Yield what this module knows, but for atomic operations."""
    for action in ("read", "write"):
        yield from (f"ds_{action}{many}_b{bits}" for many in ("2", "2st64") for bits in (32, 64))
    yield from (f"ds_read_{form}" for form in (*list(_PLAIN)[2:], *_TRANSPOSED))
    yield from (f"ds_read_{sign}{bits}{half}" for sign in "ui" for bits in (8, 16) for half in ("", "_d16", "_d16_hi"))
    yield from (f"ds_write_{form}" for form in (*_PLAIN, "b8_d16_hi", "b16_d16_hi"))
    yield from ("ds_nop", *_MOVES)


def decode_local(statement: Statement) -> Instruction | None:
    """Return the instruction, or None where the statement is none of this kind.

    Raises
    ------
    Unsupported
        For a form that is not modelled.
    """
    name = statement.mnemonic
    if not name.startswith("ds_"):
        return None
    if name == "ds_nop":
        return Instruction(statement, "lds", lambda group: None)
    if "gds" in statement.modifiers:
        raise Unsupported(statement.text)
    if found := _PAIRS.match(name):
        size = int(found[3]) // 8
        step = size * (64 if found[2] else 1)
        offsets = [statement.number("offset0") * step, statement.number("offset1") * step]
        return _read(statement, Width(size), offsets) if found[1] == "read" else _write(statement, Width(size), offsets)
    offset = [statement.number("offset")]
    if name.startswith("ds_read_"):
        form = name[8:]
        if form in _TRANSPOSED:
            return _read_transposed(statement, _TRANSPOSED[form], offset[0])
        return _read(statement, _read_width(form, statement), offset)
    if name.startswith("ds_write_"):
        return _write(statement, _write_width(name[9:], statement), offset)
    if name in _MOVES:
        return _permute(statement)
    return _atomic(statement, name[3:], offset[0])


def _read_width(form: str, statement: Statement) -> Width:
    if form in _PLAIN and form not in ("b8", "b16"):
        return Width(_PLAIN[form])
    found = _NARROW.match(form)
    if found is None:
        raise Unsupported(statement.text)
    half = {"_d16": "lo", "_d16_hi": "hi"}.get(found[3] or "", "")
    return Width(int(found[2]) // 8, found[1] == "i", half)


def _write_width(form: str, statement: Statement) -> Width:
    plain, _, high = form.partition("_d16_hi")
    if plain not in _PLAIN or high or ("_d16" in form and not form.endswith("_d16_hi")):
        raise Unsupported(statement.text)
    return Width(_PLAIN[plain], half="hi" if form.endswith("_d16_hi") else "")


def _read(statement: Statement, width: Width, offsets: list[int]) -> Instruction:
    target, address = (_vector(operand, statement) for operand in statement.operands[:2])
    targets = tuple(range(target, target + width.registers * len(offsets)))

    def read(batch: Batch, group: Group) -> None:
        base = group.vector(address).astype(np.int64)
        found = [
            transfer.load(batch.local.read, batch.places(group, base + offset), group.exec, width.size)
            for offset in offsets
        ]
        for number, values in enumerate(found):
            width.into(group, target + number * width.registers, values)
        for number, offset in enumerate(offsets):
            undefined = transfer.load(batch.local.undefined, batch.places(group, base + offset), group.exec, width.size)
            if undefined.any():
                width.into(batch.examiner.view(group), target + number * width.registers, undefined)
        batch.waits.issue(group, LOCAL, targets)

    return Instruction(statement, "lds", None, (address,), targets, vital([address]), read, queue=LOCAL)


def _write(statement: Statement, width: Width, offsets: list[int]) -> Instruction:
    address, *data = (_vector(operand, statement) for operand in statement.operands)
    if len(data) != len(offsets):
        raise Unsupported(statement.text)

    def write(batch: Batch, group: Group) -> None:
        base = group.vector(address).astype(np.int64)
        for first, offset in zip(data, offsets, strict=True):
            values = width.taken(transfer.gather_registers(group, first, width.registers))
            places = batch.places(group, base + offset)
            transfer.store(batch.local.write, places, values, group.exec, width.size)
            if not batch.examiner.doubtful.isdisjoint(range(first, first + width.registers)):
                undefined = transfer.gather_registers(batch.examiner.view(group), first, width.registers)
                transfer.store(batch.local.undefine, places, width.taken(undefined), group.exec, width.size)
        batch.waits.issue_local_write(group)

    sources = [number for first in data for number in range(first, first + width.registers)]
    return Instruction(statement, "lds", None, (address, *sources), (), vital([address]), write)


def _read_transposed(statement: Statement, elements: int, offset: int) -> Instruction:
    """Read 64 bits a lane, and transpose what blocks of 16 lanes have read (CDNA4 ISA, ``DS_READ_B64_TR_…``).

    The lanes of a block read rows of 16 elements, ``16 // elements`` lanes a row; lane i gets column i.
    """
    target, address = (_vector(operand, statement) for operand in statement.operands)
    dtype = np.uint16 if elements == 4 else np.uint8

    def read(batch: Batch, group: Group) -> None:
        if not group.full:
            raise Unsupported(f"{statement.text}, with lanes disabled")
        places = batch.places(group, group.vector(address).astype(np.int64) + offset)
        values = np.ascontiguousarray(transfer.load(batch.local.read, places, group.exec, 8)).view(dtype)
        rows = values.reshape(group.count, LANES // 16, elements, 16)
        columns = np.ascontiguousarray(rows.swapaxes(2, 3)).view(np.uint32)
        transfer.scatter_registers(group, target, columns.reshape(group.count, LANES, 2))
        batch.waits.issue(group, LOCAL, (target, target + 1))

    return Instruction(statement, "lds", None, (address,), (target, target + 1), vital([address]), read, queue=LOCAL)


def _permute(statement: Statement) -> Instruction:
    """Move between lanes without touching memory: pull (``bpermute``, ``swizzle``) or push (``permute``)."""
    target, chooser, *rest = (_vector(operand, statement) for operand in statement.operands)
    pushes, fixed = statement.mnemonic == "ds_permute_b32", statement.number("offset")
    swizzles = statement.mnemonic == "ds_swizzle_b32"
    data = chooser if swizzles else rest[0]
    pattern = swizzled_lanes(statement) if swizzles else None

    def lanes(group: Group) -> Array:
        if pattern is not None:
            return np.broadcast_to(pattern, (group.count, LANES))
        return (group.vector(chooser).astype(np.int64) + fixed) >> 2 & (LANES - 1)

    def moved(group: Group, values: Array) -> Array:
        chosen = lanes(group)
        if pushes:
            result = np.zeros_like(values)
            waves, senders = np.nonzero(group.exec)
            result[waves, chosen[waves, senders]] = values[waves, senders]
            return result
        active = values if group.full else np.where(group.exec, values, np.uint32(0))
        return np.take_along_axis(active, chosen, axis=1)

    def move(batch: Batch, group: Group) -> None:
        group.set_vector(target, moved(group, group.vector(data)))
        batch.waits.issue(group, LOCAL, (target,))

    def shade(view: ShadowView, group: Group) -> None:
        view.set_vector(target, moved(group, view.vector(data)))

    acted_on = {} if swizzles else vital([chooser])
    reads = (data,) if swizzles else (chooser, data)
    return Instruction(statement, "lds", None, reads, (target,), acted_on, move, shade, LOCAL)


def _atomic(statement: Statement, form: str, offset: int) -> Instruction:
    returns = "_rtn" in form
    form = form.replace("_rtn", "")
    swaps = form in ("cmpst_b32", "cmpst_b64")
    if not swaps and form not in ATOMICS:
        raise Unsupported(statement.text)
    size = int(form[-2:]) // 8 if swaps else ATOMICS[form].size
    words = size // 4
    numbers = [_vector(operand, statement) for operand in statement.operands]
    target = numbers.pop(0) if returns else -1
    address, *data = numbers
    if len(data) != 1 + swaps:
        raise Unsupported(statement.text)

    def operate(batch: Batch, group: Group) -> None:
        places = batch.places(group, group.vector(address).astype(np.int64) + offset)
        values = [transfer.gather_registers(group, first, words) for first in data]
        fetch, put = batch.local.read_for_update, batch.local.update
        if swaps:  # what to compare with comes first
            before = transfer.compare_and_swap(values[0], values[1], size, fetch, put, places, group.exec, cells)
        else:
            before = transfer.update(values[0], ATOMICS[form], fetch, put, places, group.exec, cells)
        if returns:
            transfer.scatter_registers(group, target, before)
        batch.waits.issue(group, LOCAL, targets)

    targets = tuple(range(target, target + words)) if returns else ()
    reads = (address, *(number for first in data for number in range(first, first + words)))
    return Instruction(statement, "lds", None, reads, targets, vital(reads), operate, queue=LOCAL)


def _vector(operand: Operand, statement: Statement) -> int:
    if not isinstance(operand.value, Register) or operand.value.scalar:
        raise Unsupported(statement.text)
    return operand.value.first
