"""Reads what a device binary needs per thread and per block out of the binary itself."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Needs:
    """What one kernel of a binary needs.

    Attributes
    ----------
    registers
        Vector registers per thread. On AMD chips with a unified file this counts architectural and accumulation
        registers together.
    scalar_registers
        Per wave, where the chip has them.
    spills
        Registers spilled to memory, per thread.
    scratch
        Bytes of private (local) memory per thread.
    static_shared
        Bytes of shared memory that the binary declares; what the launch asks for comes on top.
    """

    registers: int | None = None
    scalar_registers: int | None = None
    spills: int | None = None
    scratch: int | None = None
    static_shared: int = 0


def read_amdgcn(text: str) -> Needs:
    """Read the kernel metadata of AMD GPU assembly.

    The keys are those of LLVM's *User Guide for AMDGPU Backend*, "Code Object V3 Metadata". From gfx90a on
    ``.vgpr_count`` is the total over the unified register file, ``.agpr_count`` the share of it that accumulates.
    """

    def value(key: str) -> int | None:
        match = re.search(rf"^\s*(?:- )?\.{key}:\s*(\d+)", text, re.MULTILINE)
        return int(match[1]) if match else None

    return Needs(
        registers=value("vgpr_count"),
        scalar_registers=value("sgpr_count"),
        spills=value("vgpr_spill_count"),
        scratch=value("private_segment_fixed_size"),
        static_shared=value("group_segment_fixed_size") or 0,
    )


_REGISTER_COUNT = 0x2F
_FRAME_SIZE = 0x11
_MIN_STACK_SIZE = 0x12
_SIZED_VALUE = 0x04
_NOBITS = 8  # ELF's SHT_NOBITS


def read_cubin(binary: bytes, kernel: str) -> Needs:
    """Read the register count, the stack frame and static shared memory from a CUDA binary.

    A cubin is an ELF file. Its section ``.nv.info`` lists attributes, of which ``EIATTR_REGCOUNT``,
    ``EIATTR_FRAME_SIZE`` and ``EIATTR_MIN_STACK_SIZE`` are (symbol, value) pairs; the size of ``.nv.shared.<kernel>``
    is the static shared memory. ``cuobjdump --dump-resource-usage`` prints the same figures. The stack frame divided
    by four stands for spilled registers, as it does in Triton's own ``n_spills``.

    Parameters
    ----------
    binary
        The file's content.
    kernel
        Name of the entry.

    Raises
    ------
    ValueError
        If it is not a 64-bit little-endian ELF file.
    """
    if binary[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a CUDA binary: no 64-bit little-endian ELF header")
    sections = list(_sections(binary))
    symbols = _symbols(binary, sections)
    found: dict[int, int] = {}
    for name, _, body in sections:
        if name == ".nv.info":
            for attribute, symbol, value in _attributes(body):
                if symbols.get(symbol) == kernel:
                    found[attribute] = value
    frame = max(found.get(_FRAME_SIZE, 0), found.get(_MIN_STACK_SIZE, 0))
    shared = sum(size for name, size, _ in sections if name == f".nv.shared.{kernel}")
    return Needs(registers=found.get(_REGISTER_COUNT), spills=frame // 4, scratch=frame, static_shared=shared)


def _sections(binary: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Yield name, size and content of every section."""
    table = struct.unpack_from("<Q", binary, 0x28)[0]
    width, count, names = struct.unpack_from("<HHH", binary, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", binary, table + index * width) for index in range(count)]
    strings = binary[headers[names][4] :]
    for header in headers:
        name = strings[header[0] : strings.index(b"\0", header[0])].decode()
        body = b"" if header[1] == _NOBITS else binary[header[4] : header[4] + header[5]]
        yield name, header[5], body


def _symbols(binary: bytes, sections: list[tuple[str, int, bytes]]) -> dict[int, str]:
    bodies = {name: body for name, _, body in sections}
    table, strings = bodies.get(".symtab", b""), bodies.get(".strtab", b"")
    symbols = {}
    for index in range(len(table) // 24):
        start = struct.unpack_from("<I", table, index * 24)[0]
        symbols[index] = strings[start : strings.index(b"\0", start)].decode()
    return symbols


def _attributes(body: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield (attribute, symbol, value) of the entries that have this form."""
    cursor = 0
    while cursor + 4 <= len(body):
        form, attribute, length = struct.unpack_from("<BBH", body, cursor)
        cursor += 4
        if form != _SIZED_VALUE:  # the last two bytes are the value itself
            continue
        if length == 8:
            symbol, value = struct.unpack_from("<II", body, cursor)
            yield attribute, symbol, value
        cursor += length
