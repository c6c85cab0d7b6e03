"""The vector unit: wires a function of the table to registers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.assembly import Operand, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import EXEC, VCC
from kernelarena.platforms.emulator.carries import bitwise, wholly
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction, Step, vital
from kernelarena.platforms.emulator.instructions.kinds import KINDS, Signature
from kernelarena.platforms.emulator.instructions.registry import Entry
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.dpp import LaneMove
from kernelarena.platforms.emulator.units.reading import Reader, Source, vector_reader
from kernelarena.platforms.emulator.units.writing import Target, Writer, vector_writer, write_mask

_OWN = {
    "op_sel", "op_sel_hi", "neg_lo", "neg_hi", "mul", "div", "clamp", "src0_sel", "src1_sel", "dst_sel", "dst_unused",
    "row_mask", "bank_mask", "bound_ctrl", "quad_perm", "row_shl", "row_shr", "row_ror", "row_newbcast", "row_bcast",
    "row_mirror", "row_half_mirror", "wave_shl", "wave_shr", "wave_rol", "wave_ror",
}  # fmt: skip
"""Modifiers that are the same for all instructions; others are arguments of the function."""
_BITWISE = ("v_and_", "v_or_", "v_xor_", "v_not_", "v_mov_b", "v_cndmask", "v_accvgpr", "v_or3_", "v_bfi_", "v_pk_mov_")


def decode_vector(entry: Entry, statement: Statement, flushes: bool) -> Instruction:
    """Return the instruction that a statement is.

    Parameters
    ----------
    entry
        What it computes.
    statement
        Its operands and modifiers.
    flushes
        Whether denormals are flushed.

    Raises
    ------
    Unsupported
        If an operand or a modifier is not modelled.
    """
    signature = entry.signature
    assert signature is not None
    named = len(signature.results)
    destinations, sources = statement.operands[:named], statement.operands[named:]
    if len(destinations) < named or len(sources) != len(signature.written):
        raise Unsupported(statement.text)
    move = LaneMove(statement) if statement.encoding == "dpp" else None
    readers = _readers(signature, statement, destinations, sources, move, flushes)
    writers = [
        vector_writer(Target(operand, KINDS[kind]), statement, flushes, len(signature.written))
        for operand, kind in zip(destinations, signature.results, strict=True)
    ]
    step = _step(_bound(entry.function, statement, signature), readers, writers, move)
    written = [number for operand in destinations for number in registers(operand)]
    read = [number for operand in sources for number in registers(operand)]
    if "vcc" in signature.sources:
        read += [VCC, VCC + 1]
    if "dst" in signature.sources:
        read += registers(destinations[0])
    carry = bitwise if entry.mnemonic.startswith(_BITWISE) and statement.encoding != "sdwa" else wholly
    return Instruction(statement, "vector", step, tuple(read), tuple(written), carry=carry)


def registers(operand: Operand) -> list[int]:
    """Return the numbers of the registers that an operand names."""
    return list(operand.value.all) if isinstance(operand.value, Register) else []


def _readers(
    signature: Signature, statement: Statement, destinations: tuple[Operand, ...], sources: tuple[Operand, ...],
    move: LaneMove | None, flushes: bool,
) -> list[Reader]:  # fmt: skip
    readers: list[Reader] = []
    position = 0
    for name in signature.sources:
        if name == "op_sel":
            bits: Any = statement.bits("op_sel", 4)
            readers.append(lambda group, bits=bits: bits)  # type: ignore[misc]
        elif name == "vcc":
            readers.append(vector_reader(Source(Operand(Register(VCC, 2)), KINDS["mask"], -1), statement, None, False))
        elif name == "dst":
            kind = KINDS[signature.results[0].removesuffix("lo")]
            readers.append(vector_reader(Source(destinations[0], kind, -1), statement, None, flushes))
        else:
            source = Source(sources[position], KINDS[name], position)
            readers.append(vector_reader(source, statement, move, flushes))
            position += 1
    return readers


def _bound(function: Callable[..., Any], statement: Statement, signature: Signature) -> Callable[..., Any]:
    """Give a function the modifiers that are its own."""
    extra: dict[str, Any] = {name: value for name, value in statement.modifiers.items() if name not in _OWN}
    if "clamp" in statement.modifiers and KINDS[signature.results[0]].dtype.kind != "f":
        extra["clamp"] = True
    if not extra:
        return function
    if not takes(function, extra):
        raise Unsupported(statement.text)
    return lambda *sources: function(*sources, **extra)


def takes(function: Callable[..., Any], names: dict[str, Any]) -> bool:
    """Return whether a function has parameters of these names."""
    try:
        known = inspect.signature(function).parameters
    except ValueError:  # one of NumPy's own
        return not names
    return all(name in known for name in names)


def _step(
    function: Callable[..., Any], readers: list[Reader], writers: list[Writer], move: LaneMove | None
) -> Step:  # fmt: skip
    """Tie it together; the usual numbers of operands without a loop, since this runs for every instruction."""
    if len(writers) == 1:
        write = writers[0]
        if len(readers) == 1:
            (a,) = readers
            return lambda group: write(group, function(a(group)), write_mask(move, group))
        if len(readers) == 2:
            a, b = readers
            return lambda group: write(group, function(a(group), b(group)), write_mask(move, group))
        if len(readers) == 3:
            a, b, c = readers
            return lambda group: write(group, function(a(group), b(group), c(group)), write_mask(move, group))

    def step(group: Group) -> None:
        results = function(*[read(group) for read in readers])
        mask = write_mask(move, group)
        if len(writers) == 1:
            writers[0](group, results, mask)
            return
        # A result may be a view of a register that another result is written to.
        for write, result in zip(writers, [np.array(result) for result in results], strict=True):
            write(group, result, mask)

    return step


def compare_and_mask(entry: Entry, statement: Statement, flushes: bool) -> Instruction:
    """Return ``v_cmpx_…``: a comparison that also becomes EXEC."""
    compared = decode_vector(entry, statement, flushes)
    target = statement.operands[0].value
    if not isinstance(target, Register) or compared.step is None:
        raise Unsupported(statement.text)
    first, compare = target.first, compared.step

    def step(group: Group) -> None:
        compare(group)
        group.set_pair(EXEC, group.pair(first))

    return Instruction(
        statement, "vector", step, compared.reads, (*compared.writes, EXEC, EXEC + 1), vital(compared.reads)
    )
