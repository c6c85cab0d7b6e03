"""The scalar unit: one value a wave."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelarena.platforms.emulator.assembly import Constant, Operand, Register, Statement
from kernelarena.platforms.emulator.assembly.operands import EXEC, SCC
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction, Step, vital
from kernelarena.platforms.emulator.instructions.kinds import KINDS, Kind
from kernelarena.platforms.emulator.instructions.registry import Entry
from kernelarena.platforms.emulator.lanes import Array
from kernelarena.platforms.emulator.registers import Registers
from kernelarena.platforms.emulator.state import Group
from kernelarena.platforms.emulator.units.constants import constant_bits
from kernelarena.platforms.emulator.units.reading import Reader
from kernelarena.platforms.emulator.units.scalar_shading import ScalarShading

ScalarWriter = Callable[[Registers, Array], None]


def decode_scalar(entry: Entry, statement: Statement) -> Instruction:
    """Return the instruction that a statement is.

    Raises
    ------
    Unsupported
        If an operand is not modelled.
    """
    signature = entry.signature
    assert signature is not None
    results = [name for name in signature.results if name != "scc"]
    destinations, sources = statement.operands[: len(results)], list(statement.operands[len(results) :])
    if len(sources) != len(signature.written) or len(destinations) != len(results):
        raise Unsupported(statement.text)
    read: list[int] = []
    readers: list[Reader] = []
    constants: list[bool] = []
    for name in signature.sources:
        if name == "scc":
            readers.append(lambda group: group.condition)
            constants.append(False)
            read.append(SCC)
            continue
        operand = destinations[0] if name == "dst" else sources.pop(0)
        readers.append(scalar_reader(operand, KINDS[results[0] if name == "dst" else name], statement))
        constants.append(not isinstance(operand.value, Register))
        read += operand.value.all if isinstance(operand.value, Register) else ()
    written: list[int] = []
    writers: list[ScalarWriter] = []
    remaining = list(destinations)
    for name in signature.results:
        if name == "scc":
            writers.append(_write_condition)
            written.append(SCC)
            continue
        operand = remaining.pop(0)
        writers.append(scalar_writer(operand, KINDS[name], statement))
        written += operand.value.all if isinstance(operand.value, Register) else ()
    acted_on = vital(read) if EXEC in written else {}
    step = _step(entry.function, readers, writers)
    shade = ScalarShading(entry, constants, readers, writers)
    return Instruction(statement, "scalar", step, tuple(read), tuple(written), acted_on, shade=shade)


def scalar_reader(operand: Operand, kind: Kind, statement: Statement) -> Reader:
    """Return what reads ``[waves]`` (or ``[1]``, of a constant) in the kind's dtype."""
    value, dtype = operand.value, kind.dtype
    if isinstance(value, Constant):
        bits = constant_bits(value.value, kind)
        constant = np.array([bits], np.dtype(f"u{dtype.itemsize}")).view(dtype)
        return lambda group: constant
    if not isinstance(value, Register) or not value.scalar or value.first == SCC:
        raise Unsupported(statement.text)
    first = value.first
    if kind.registers == 2:
        return lambda group: group.pair(first).view(dtype)
    if kind.bits == 16:
        return lambda group: group.scalar(first).astype(np.uint16).view(dtype)
    return lambda group: group.scalar(first).view(dtype)


def scalar_writer(operand: Operand, kind: Kind, statement: Statement) -> ScalarWriter:
    """Return what writes a scalar register, or a pair."""
    value, dtype = operand.value, kind.dtype
    if not isinstance(value, Register) or not value.scalar or value.first == SCC:
        raise Unsupported(statement.text)
    first = value.first
    if kind.registers == 2:
        return lambda group, result: group.set_pair(first, result.astype(dtype, copy=False).view(np.uint64))
    return lambda group, result: group.set_scalar(first, result.astype(dtype, copy=False).view(np.uint32))


def _write_condition(group: Registers, value: Array) -> None:
    group.condition = value


def _step(function: Callable[..., object], readers: list[Reader], writers: list[ScalarWriter]) -> Step:
    def step(group: Group) -> None:
        results = function(*[read(group) for read in readers])
        if len(writers) == 1:
            writers[0](group, np.asarray(results))
            return
        assert isinstance(results, tuple)
        for write, result in zip(writers, results, strict=True):
            write(group, np.asarray(result))

    return step
