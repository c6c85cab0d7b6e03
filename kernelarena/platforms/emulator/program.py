"""A file of assembly text, made ready to run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kernelarena.platforms.emulator.assembly import KernelText, Module, Statement, parse_module
from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.emulator.instruction import Instruction
from kernelarena.platforms.emulator.instructions import lookup
from kernelarena.platforms.emulator.symbols import Data, Symbols
from kernelarena.platforms.emulator.units import lanes, saveexec
from kernelarena.platforms.emulator.units.control import decode_control
from kernelarena.platforms.emulator.units.local import decode_local
from kernelarena.platforms.emulator.units.matrix import decode_matrix
from kernelarena.platforms.emulator.units.mode import Mode, decode_mode, sets_saturation
from kernelarena.platforms.emulator.units.scalar import decode_scalar
from kernelarena.platforms.emulator.units.scalar_memory import decode_scalar_memory
from kernelarena.platforms.emulator.units.vector import compare_and_mask, decode_vector
from kernelarena.platforms.emulator.units.vector_memory import decode_vector_memory

TARGETS = ("gfx90a", "gfx942", "gfx950")
"""The chips whose instructions these are."""
_MOST_VECTORS = 512
_PLAIN_MODE = {
    "float_round_mode_32": 0, "float_round_mode_16_64": 0, "dx10_clamp": 1, "ieee_mode": 1, "fp16_overflow": 0,
}  # fmt: skip
"""What the MODE register has to begin with, but for denormals."""


@dataclass(frozen=True)
class Block:
    """Instructions that waves go through in one go.

    Attributes
    ----------
    body
        In order; the last may send them elsewhere.
    next
        The statement after it.
    units
        How many of each unit.
    """

    body: tuple[Instruction, ...]
    next: int
    units: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel, ready to run.

    Attributes
    ----------
    text
        What the file says of it.
    blocks
        By their first statement: those that its waves can come to.
    barriers
        Those of its instructions that are one, by their place.
    vectors, accumulators
        How many registers of either file it has.
    data
        Constants and global variables that it uses; the latter live as long as the program.
    """

    text: KernelText
    blocks: dict[int, Block]
    barriers: dict[int, Instruction]
    vectors: int
    accumulators: int
    data: tuple[Data, ...] = ()


@dataclass(frozen=True)
class Program:
    """What one file of assembly can be launched.

    Attributes
    ----------
    target
        The chip that it was built for.
    kernels
        By name: those of which everything is modelled.
    missing
        For every other one the text of each instruction, or mode, that is not modelled, once.
    """

    target: str
    kernels: dict[str, Kernel]
    missing: dict[str, tuple[str, ...]]

    @property
    def unsupported(self) -> tuple[str, ...]:
        """What is not modelled in any of the kernels."""
        return tuple(dict.fromkeys(text for texts in self.missing.values() for text in texts))


def load(text: str) -> Program:
    """Read assembly text, as Triton's ``asm["amdgcn"]`` and ``clang -S`` have it.

    Parameters
    ----------
    text
        The whole file.

    Returns
    -------
    Program
        Kernels with anything that is not modelled are not among its ``kernels``; what that is stands in ``missing``.
    """
    module = parse_module(text)
    if module.target not in TARGETS:
        return Program(module.target, {}, dict.fromkeys(module.kernels, (f"instructions of {module.target}",)))
    kernels: dict[str, Kernel] = {}
    missing: dict[str, tuple[str, ...]] = {}
    for name, kernel in module.kernels.items():
        loader = _Loader(module, kernel)
        made = loader.kernel()
        if loader.unsupported:
            missing[name] = tuple(loader.unsupported)
        else:
            kernels[name] = made
    return Program(module.target, kernels, missing)


class _Loader:
    """Follows a kernel from its entry through all that it can come to."""

    def __init__(self, module: Module, kernel: KernelText) -> None:
        self._module = module
        self._kernel = kernel
        self.unsupported: dict[str, None] = {}
        self._symbols = Symbols(module)
        descriptor = kernel.descriptor
        for name, wanted in _PLAIN_MODE.items():
            if descriptor.get(name, wanted) != wanted:
                self.unsupported[f".amdhsa_{name} {descriptor[name]}"] = None
        denormals = descriptor.get("float_denorm_mode_32", 3), descriptor.get("float_denorm_mode_16_64", 3)
        self._mode = Mode()
        self._saturating = self._reached_saturating()
        if denormals != (3, 3):
            self.unsupported[f".amdhsa_float_denorm_mode_32 {denormals[0]}"] = None

    def kernel(self) -> Kernel:
        starts = self._starts()
        ready = {place: self._ready(place) for place in sorted(self._reached(self._kernel.entry))}
        blocks = {place: self._block(place, starts, ready) for place in sorted(starts) if place in ready}
        descriptor = self._kernel.descriptor
        # What is an expression over other functions' needs is not known here: then it is all that there are.
        vectors = descriptor.get("next_free_vgpr", _MOST_VECTORS)
        split = min(descriptor.get("accum_offset", _MOST_VECTORS // 2), vectors)
        barriers = {place: one for place, one in ready.items() if one and one.statement.mnemonic == "s_barrier"}
        return Kernel(self._kernel, blocks, barriers, split, vectors - split, self._symbols.data)

    def _starts(self) -> set[int]:
        """Return where blocks begin: at labels, and after whatever ends one."""
        statements = self._module.statements
        starts = set(self._module.labels.values()) | {self._kernel.entry}
        ending = ("s_branch", "s_cbranch_", "s_endpgm", "s_barrier", "s_setpc", "s_swappc")
        starts.update(place + 1 for place, one in enumerate(statements) if one.mnemonic.startswith(ending))
        return starts

    def _reached(self, start: int) -> set[int]:
        """Return the statements that waves can come to from one."""
        statements, labels = self._module.statements, self._module.labels
        seen: set[int] = set()
        ahead = [start]
        while ahead:
            place = ahead.pop()
            while place < len(statements) and place not in seen:
                seen.add(place)
                statement = statements[place]
                name = statement.mnemonic
                if name.startswith(("s_branch", "s_cbranch_")):
                    target = getattr(statement.operands[0].value, "text", "")
                    ahead += [labels[target]] if target in labels else []
                ahead += self._symbols.functions(statement)
                if name in ("s_branch", "s_endpgm", "s_setpc_b64"):
                    break
                place += 1
        return seen

    def _reached_saturating(self) -> set[int]:
        """Return the statements before which every wave has set FP16_OVFL, as compilers do on the way in.

        Where some waves may come to a statement with it and some without, or only some set it, there are none: then
        the write itself is refused.
        """
        statements, labels = self._module.statements, self._module.labels
        place, before = self._kernel.entry, set[int]()
        while place < len(statements) and place not in before:
            statement = statements[place]
            if sets_saturation(statement):
                after = self._reached(place)
                return after if after.isdisjoint(before) else set()
            before.add(place)
            if statement.mnemonic == "s_branch":
                place = labels.get(getattr(statement.operands[0].value, "text", ""), len(statements))
            elif statement.mnemonic.startswith(("s_cbranch_", "s_endpgm", "s_setpc", "s_swappc")):
                break
            else:
                place += 1
        return set()

    def _ready(self, place: int) -> Instruction | None:
        statement = self._symbols.placed(self._module.statements[place])
        try:
            return self._decoded(statement, place)
        except Unsupported as error:
            self.unsupported[str(error)] = None
        return None

    def _decoded(self, statement: Statement, place: int) -> Instruction:
        name = statement.mnemonic
        mode = self._mode.saturating if place in self._saturating else self._mode
        entry = lookup(name, self._module.target)
        if entry is not None:
            if entry.unit == "vector":
                return decode_vector(entry, statement, mode)
            return decode_matrix(entry, statement) if entry.unit == "matrix" else decode_scalar(entry, statement)
        if name in lanes.NAMES:
            return lanes.NAMES[name](statement)
        if name in saveexec.NAMES or name in saveexec.WRITE_NAMES:
            return saveexec.decode_saveexec(statement)
        if name.startswith("v_cmpx_"):
            compared = lookup(name.replace("v_cmpx_", "v_cmp_"), self._module.target)
            if compared is not None:
                return compare_and_mask(compared, statement, mode)
        made = (
            decode_control(statement, self._module.labels, place)
            or decode_mode(statement, mode)
            or decode_scalar_memory(statement)
            or decode_vector_memory(statement)
            or decode_local(statement)
        )
        if made is None:
            raise Unsupported(statement.text)
        return made

    def _block(self, start: int, starts: set[int], ready: dict[int, Instruction | None]) -> Block:
        body = []
        place = start
        while place in ready:
            instruction = ready[place]
            place += 1
            if instruction is None:
                break
            body.append(instruction)
            if instruction.ends_block or place in starts:
                break
        return Block(tuple(body), place, tuple(Counter(one.unit for one in body).items()))
