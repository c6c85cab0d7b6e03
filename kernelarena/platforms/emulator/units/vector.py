"""The vector unit: wires a function of the table to registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelarena.platforms.emulator.assembly import Operand, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import EXEC, VCC
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction, Step, vital
from kernelarena.platforms.emulator.instructions.kinds import KINDS, Signature
from kernelarena.platforms.emulator.instructions.registry import Entry, takes
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.dpp import LaneMove
from kernelarena.platforms.emulator.units.mode import Mode
from kernelarena.platforms.emulator.units.overflow import saturating
from kernelarena.platforms.emulator.units.reading import Reader, Reading, Source, vector_reader
from kernelarena.platforms.emulator.units.shading import Shading
from kernelarena.platforms.emulator.units.writing import Target, Writing, vector_writer, write_mask

_OWN = {
    "op_sel", "op_sel_hi", "neg_lo", "neg_hi", "mul", "div", "clamp", "src0_sel", "src1_sel", "dst_sel", "dst_unused",
    "row_mask", "bank_mask", "bound_ctrl", "quad_perm", "row_shl", "row_shr", "row_ror", "row_newbcast", "row_bcast",
    "row_mirror", "row_half_mirror", "wave_shl", "wave_shr", "wave_rol", "wave_ror",
}  # fmt: skip
"""Modifiers that are the same for all instructions; others are arguments of the function."""


def decode_vector(entry: Entry, statement: Statement, mode: Mode) -> Instruction:
    """Return the instruction that a statement is.

    Parameters
    ----------
    entry
        What it computes.
    statement
        Its operands and modifiers.
    mode
        What the MODE register holds there.

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
    flushes = mode.flushes
    readings = _readings(signature, statement, destinations, sources, move, flushes)
    writings = [
        vector_writer(Target(operand, KINDS[kind]), statement, flushes, len(signature.written))
        for operand, kind in zip(destinations, signature.results, strict=True)
    ]
    function = saturating(entry, statement) if mode.saturates else entry.function
    function = _bound(function, statement, signature)
    step = _step(function, [reading.value for reading in readings], writings, move)
    written = [number for operand in destinations for number in registers(operand)]
    read = [number for operand in sources for number in registers(operand)]
    if "vcc" in signature.sources:
        read += [VCC, VCC + 1]
    if "dst" in signature.sources or "dst_unused" in statement.modifiers:
        read += registers(destinations[0])
    shade = Shading(entry.mnemonic, function, signature, readings, writings, move)
    return Instruction(statement, "vector", step, tuple(read), tuple(written), shade=shade)


def registers(operand: Operand) -> list[int]:
    """Return the numbers of the registers that an operand names."""
    return list(operand.value.all) if isinstance(operand.value, Register) else []


def _readings(
    signature: Signature, statement: Statement, destinations: tuple[Operand, ...], sources: tuple[Operand, ...],
    move: LaneMove | None, flushes: bool,
) -> list[Reading]:  # fmt: skip
    readings: list[Reading] = []
    position = 0
    for name in signature.sources:
        if name == "op_sel":
            readings.append(_constant(statement.bits("op_sel", 4)))
        elif name == "vcc":
            readings.append(vector_reader(Source(Operand(Register(VCC, 2)), KINDS["mask"], -1), statement, None, False))
        elif name == "dst":
            kind = KINDS[signature.results[0].removesuffix("lo")]
            readings.append(vector_reader(Source(destinations[0], kind, -1), statement, None, flushes))
        else:
            source = Source(sources[position], KINDS[name], position)
            readings.append(vector_reader(source, statement, move, flushes))
            position += 1
    return readings


def _constant(value: Any) -> Reading:
    return Reading(lambda group: value, lambda group: np.zeros((1, 1), np.uint32))


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


def _step(
    function: Callable[..., Any], readers: list[Reader], writings: list[Writing], move: LaneMove | None
) -> Step:  # fmt: skip
    """Tie it together; the usual numbers of operands without a loop, since this runs for every instruction."""
    if len(writings) == 1:
        write, finish = writings[0].bits, writings[0].finish
        if len(readers) == 1:
            (a,) = readers
            return lambda group: write(group, finish(function(a(group))), write_mask(move, group))
        if len(readers) == 2:
            a, b = readers
            return lambda group: write(group, finish(function(a(group), b(group))), write_mask(move, group))
        if len(readers) == 3:
            a, b, c = readers
            return lambda group: write(group, finish(function(a(group), b(group), c(group))), write_mask(move, group))

    def step(group: Group) -> None:
        results = function(*[read(group) for read in readers])
        mask = write_mask(move, group)
        if len(writings) == 1:
            results = (results,)
        # A result may be a view of a register that another result is written to.
        bits = [np.array(writing.finish(result)) for writing, result in zip(writings, results, strict=True)]
        for writing, words in zip(writings, bits, strict=True):
            writing.bits(group, words, mask)

    return step


def compare_and_mask(entry: Entry, statement: Statement, mode: Mode) -> Instruction:
    """Return ``v_cmpx_…``: a comparison that also becomes EXEC."""
    compared = decode_vector(entry, statement, mode)
    target = statement.operands[0].value
    if not isinstance(target, Register) or compared.step is None:
        raise Unsupported(statement.text)
    first, compare = target.first, compared.step

    def step(group: Group) -> None:
        compare(group)
        group.set_pair(EXEC, group.pair(first))

    return Instruction(statement, "vector", step, compared.reads, compared.writes, vital(compared.reads))
