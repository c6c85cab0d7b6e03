"""Writes C declarations of what a Python package calls through ctypes, so that a stub cannot disagree with it.

    python declarations.py amdsmi > amd_smi.h

Structures come from the package's ctypes classes, prototypes from the ``argtypes`` of its functions, constants from its
integers. A stub that gets an argument or a field wrong then does not compile.
"""

from __future__ import annotations

import ctypes
import importlib
import sys

SCALARS = {
    ctypes.c_int8: "int8_t", ctypes.c_uint8: "uint8_t", ctypes.c_int16: "int16_t", ctypes.c_uint16: "uint16_t",
    ctypes.c_int32: "int32_t", ctypes.c_uint32: "uint32_t", ctypes.c_int64: "int64_t", ctypes.c_uint64: "uint64_t",
    ctypes.c_float: "float", ctypes.c_double: "double", ctypes.c_bool: "_Bool", ctypes.c_char: "char",
    ctypes.c_char_p: "char *", ctypes.c_void_p: "void *", None: "void",
}  # fmt: skip


class Header:
    """Declarations in the order in which C needs them."""

    def __init__(self) -> None:
        self.lines = ["#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>"]
        self.names: dict[type, str] = {}

    def declare(self, kind, name: str = "") -> str:
        """Return ``kind name`` in C, with the structures that it needs declared before."""
        if kind in SCALARS:
            return f"{SCALARS[kind]} {name}".strip()
        if issubclass(kind, ctypes.Array):
            return self.declare(kind._type_, f"{name}[{kind._length_}]")
        if issubclass(kind, ctypes._Pointer):
            target = kind._type_
            if target is None:
                return f"void *{name}"
            if issubclass(target, ctypes.Array):
                return self.declare(target._type_, f"*{name}")
            return self.declare(target, f"*{name}")
        if issubclass(kind, ctypes._SimpleCData):
            return f"{SCALARS[kind]} {name}".strip()
        return f"{self.structure(kind)} {name}".strip()

    def structure(self, kind) -> str:
        """Return the C name of a structure or union, declaring it on first use."""
        if kind not in self.names:
            keyword = "union" if issubclass(kind, ctypes.Union) else "struct"
            self.names[kind] = f"{keyword} {kind.__name__}"
            fields = []
            for name, field, *width in getattr(kind, "_fields_", ()):
                fields.append(f"    {self.declare(field, name)}{f' : {width[0]}' if width else ''};")
            packed = " __attribute__((packed))" if getattr(kind, "_pack_", 0) == 1 else ""
            self.lines += [f"{self.names[kind]} {{", *fields, f"}}{packed};"]
            self.lines.append(f'_Static_assert(sizeof({self.names[kind]}) == {ctypes.sizeof(kind)}, "layout");')
        return self.names[kind]

    def constant(self, name: str, value: int) -> None:
        self.lines.append(f"#define {name} {value}{'u' if value > 0x7FFFFFFF else ''}")


def amdsmi() -> str:
    """Declare all that the wrapper binds, and give each function a weak body that refuses."""
    wrapper = importlib.import_module("amdsmi.amdsmi_wrapper")
    header = Header()
    bodies = []
    for name, value in vars(wrapper).items():
        if type(value) is int and name.startswith("AMDSMI_"):
            header.constant(name, value)
    for name, value in vars(wrapper).items():
        if not isinstance(value, ctypes._CFuncPtr) or not name.startswith("amdsmi_") or value.argtypes is None:
            continue
        if any(isinstance(kind, type) and issubclass(kind, ctypes._CFuncPtr) for kind in value.argtypes):
            continue  # a callback: nothing here needs one
        arguments = ", ".join(header.declare(kind, f"a{i}") for i, kind in enumerate(value.argtypes)) or "void"
        result = header.declare(value.restype)
        header.lines.append(f"{result} {name}({arguments});")
        refusal = (
            "" if value.restype is None else "return 0;" if "*" in result else "return AMDSMI_STATUS_NOT_SUPPORTED;"
        )
        bodies.append(f"__attribute__((weak)) {result} {name}({arguments}) {{ {refusal} }}")
    return "\n".join([*header.lines, "#ifdef STUB_REFUSES", *bodies, "#endif", ""])


def pynvml() -> str:
    """Declare the structures and constants; the package does not say what its functions take."""
    module = importlib.import_module("pynvml")
    header = Header()
    for kind in (
        "c_nvmlFieldValue_t",
        "c_nvmlMemory_t",
        "nvmlPciInfo_t",
        "c_nvmlUtilization_t",
        "c_nvmlProcessInfo_v3_t",
    ):
        header.structure(getattr(module, kind))
    for name, value in vars(module).items():
        if type(value) is int and name.startswith(("NVML_", "nvmlClocksEventReason")) and value >= 0:
            header.constant(name, value)
    return "\n".join([*header.lines, ""])


if __name__ == "__main__":
    print({"amdsmi": amdsmi, "pynvml": pynvml}[sys.argv[1]]())
