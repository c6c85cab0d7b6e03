"""Names in the text that stand for addresses: functions, constants and global variables.

Code reads an address as ``s_getpc_b64`` plus a distance (``name@rel32@lo+4``, ``name@rel32@hi+12``). Here every program
counter reads as 0 and every distance as the address itself, which comes to the same. Functions have addresses that no
host process has; data has those of the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelarena.platforms.emulator.assembly import Constant, Module, Operand, Statement, Symbol
from kernelarena.platforms.emulator.lanes import Array

CODE = 1 << 50
"""Where functions lie; an instruction takes four bytes."""

_REFERENCE = re.compile(r"([\w.$]+)@(rel32|gotpcrel32|abs32)@(lo|hi)(?:\+\d+)?$")
_WIDTHS = {".byte": 1, ".short": 2, ".2byte": 2, ".long": 4, ".int": 4, ".4byte": 4, ".quad": 8, ".8byte": 8}


@dataclass(frozen=True)
class Data:
    """A global object.

    Attributes
    ----------
    name
        Its symbol.
    content
        ``uint8[size]``, at the address that code is given.
    """

    name: str
    content: Array

    @property
    def address(self) -> int:
        """Where it lies."""
        return int(self.content.ctypes.data)


class Symbols:
    """Addresses of what one file names.

    Parameters
    ----------
    module
        The file.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._data: dict[str, Data] = {}

    @property
    def data(self) -> tuple[Data, ...]:
        """The objects that were asked for."""
        return tuple(self._data.values())

    def placed(self, statement: Statement) -> Statement:
        """Return a statement with addresses in place of what names them."""
        if not any(isinstance(operand.value, Symbol) for operand in statement.operands):
            return statement
        return replace(statement, operands=tuple(self._operand(operand) for operand in statement.operands))

    def functions(self, statement: Statement) -> Iterator[int]:
        """Yield the places of the functions that a statement takes the address of."""
        for operand in statement.operands:
            found = _REFERENCE.match(operand.value.text) if isinstance(operand.value, Symbol) else None
            if found and found[1] in self._module.labels:
                yield self._module.labels[found[1]]

    def _operand(self, operand: Operand) -> Operand:
        found = _REFERENCE.match(operand.value.text) if isinstance(operand.value, Symbol) else None
        address = self._address(found[1], found[2] == "gotpcrel32") if found else None
        if found is None or address is None:
            return operand
        return Operand(Constant(address >> 32 if found[3] == "hi" else address & 0xFFFF_FFFF))

    def _address(self, name: str, indirect: bool) -> int | None:
        if indirect:
            target = self._address(name, indirect=False)
            return None if target is None else self._object(f"address of {name}", np.array([target], np.int64)).address
        if name in self._module.labels:
            return CODE + 4 * self._module.labels[name]
        lines = self._module.data.get(name)
        content = None if lines is None else _assembled(lines)
        return None if content is None else self._object(name, content).address

    def _object(self, name: str, content: Array) -> Data:
        return self._data.setdefault(name, Data(name, content.view(np.uint8)))


def _assembled(lines: Sequence[str]) -> Array | None:
    """Return what directives put into memory, or None for one that is not understood."""
    content = bytearray()
    for line in lines:
        name, _, rest = line.partition("\t" if "\t" in line else " ")
        values = [part.strip() for part in rest.partition(";")[0].split(",")]
        if name in _WIDTHS:
            width = _WIDTHS[name]
            try:
                numbers = [int(value, 0) for value in values]
            except ValueError:  # an address within data
                return None
            for number in numbers:
                content += (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        elif name in (".zero", ".space", ".skip"):
            content += bytes(int(values[0], 0))
        elif name in (".size", ".type", ".globl", ".protected", ".hidden", ".weak", ".section", ".p2align", ".addrsig"):
            break
        else:
            return None
    return np.frombuffer(content, np.uint8).copy()
