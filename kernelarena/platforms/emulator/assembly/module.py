"""A file of assembly text: its instructions in order, its labels, its kernels and what they ask to be launched with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from kernelarena.platforms.emulator.assembly.statement import Place, Statement, parse_statement

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LABEL = re.compile(r"([\w.$]+):$")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_INTEGER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)$")
_TARGET = re.compile(r"gfx[0-9a-f]+")


@dataclass(frozen=True)
class Argument:
    """One argument in the kernarg segment.

    Attributes
    ----------
    offset, size
        Bytes.
    kind
        ``by_value``, ``global_buffer``, or ``hidden_…`` for those that the launch adds.
    """

    offset: int
    size: int
    kind: str


@dataclass(frozen=True)
class KernelText:
    """One kernel.

    Attributes
    ----------
    name
        Its symbol.
    entry
        Index of its first instruction.
    descriptor
        The ``.amdhsa_`` directives without the prefix.
    arguments
        By offset, hidden ones last.
    max_threads
        Most work-items in a workgroup.
    """

    name: str
    entry: int
    descriptor: dict[str, int]
    arguments: tuple[Argument, ...]
    max_threads: int


@dataclass
class Module:
    """What one file holds.

    Attributes
    ----------
    target
        The chip, ``gfx942``.
    statements
        All instructions of all functions, in order.
    labels
        Indices into them.
    kernels
        By name.
    data
        Lines of directives by the label that they follow, outside of code.
    """

    target: str = ""
    statements: list[Statement] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    kernels: dict[str, KernelText] = field(default_factory=dict)
    data: dict[str, list[str]] = field(default_factory=dict)


def parse_module(text: str) -> Module:
    """Read a file of assembly.

    Parameters
    ----------
    text
        As Triton's ``asm["amdgcn"]`` and ``clang -S`` have it.
    """
    body, _, rest = text.partition(".amdgpu_metadata")
    reader = _Reader()
    for line in body.splitlines():
        reader.line(line)
    metadata = yaml.load(rest.partition(".end_amdgpu_metadata")[0].rstrip(), _LOADER) or {}
    module = reader.module
    for kernel in metadata.get("amdhsa.kernels", []):
        name = kernel[".name"]
        module.kernels[name] = KernelText(
            name,
            module.labels[name],
            reader.descriptors.get(name, {}),
            tuple(sorted(map(_argument, kernel.get(".args", [])), key=lambda one: one.offset)),
            int(kernel.get(".max_flat_workgroup_size", 1024)),
        )
    return module


def _argument(described: dict[str, Any]) -> Argument:
    return Argument(described[".offset"], described[".size"], described[".value_kind"])


class _Reader:
    """Goes through the lines once."""

    def __init__(self) -> None:
        self.module = Module()
        self.descriptors: dict[str, dict[str, int]] = {}
        self._files: dict[str, str] = {}
        self._place: Place | None = None
        self._in_code = True
        self._described: dict[str, int] | None = None
        self._label = ""

    def line(self, line: str) -> None:
        line = line.strip() if '"' in line else line.partition(";")[0].partition("//")[0].strip()
        if not line:
            return
        if found := _LABEL.match(line):
            self._label = found[1]
            if self._in_code:
                self.module.labels[self._label] = len(self.module.statements)
            else:
                self.module.data[self._label] = []
        elif line.startswith("."):
            self._directive(line)
        elif self._in_code:
            self.module.statements.append(parse_statement(" ".join(line.split()), self._place))

    def _directive(self, line: str) -> None:
        name, _, rest = line.partition("\t" if "\t" in line else " ")
        rest = rest.strip()
        if name == ".amdgcn_target":
            self.module.target = _TARGET.findall(rest)[-1]
        elif name == ".file":
            self._file(rest)
        elif name == ".loc":
            file, number, *_ = rest.split()
            if int(number):  # line 0: the compiler does not know
                self._place = Place(self._files.get(file, file), int(number))
        elif name in (".text", ".section", ".data", ".bss"):
            self._in_code = name == ".text" or rest.startswith(".text")
        elif name == ".amdhsa_kernel":
            self._described = self.descriptors.setdefault(rest, {})
        elif name == ".end_amdhsa_kernel":
            self._described = None
        elif name.startswith(".amdhsa_") and self._described is not None:
            if _INTEGER.match(rest):  # else an expression over what other functions need
                self._described[name.removeprefix(".amdhsa_")] = int(rest, 0)
        elif not self._in_code and self._label:
            self.module.data.setdefault(self._label, []).append(line)

    def _file(self, rest: str) -> None:
        number, _, names = rest.partition(" ")
        if number.isdigit():
            quoted = _QUOTED.findall(names)
            self._files[number] = quoted[-1].rpartition("/")[2] if "md5" not in names else quoted[-1]
