"""The text of a PyTorch extension: what of a kernel is one, the unit that it is built as, and what our headers lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelarena.platforms.toolchains.cpp.compiler import Compiler
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic
from kernelarena.spec import Kernel

NAMES = Path(__file__).parent / "torch_names"
"""Holds ``ka_torch.h``, which stands in for PyTorch's headers."""
_FORWARDED = (
    *(f"torch/{name}.h" for name in ("extension", "torch", "types", "all", "python", "csrc/utils/pybind")),
    *(f"ATen/{name}.h" for name in ("ATen", "Dispatch", "AccumulateType", "OpMathType", "core/Tensor", "TensorUtils")),
    *(f"ATen/cuda/{name}.h" for name in ("CUDAContext", "Exceptions", "CUDAEvent", "CUDAUtils")),
    *(f"ATen/hip/{name}.h" for name in ("HIPContext", "Exceptions")),
    *("ATen/cuda/Atomic.cuh", "ATen/hip/impl/HIPStreamMasqueradingAsCUDA.h"),
    *("ATen/hip/impl/HIPGuardImplMasqueradingAsCUDA.h",),
    *(f"c10/cuda/CUDA{name}.h" for name in ("Stream", "Guard", "Exception", "Functions", "Macros", "MathCompat")),
    *(f"c10/hip/HIP{name}.h" for name in ("Stream", "Guard", "Exception")),
    *(f"c10/util/{name}.h" for name in ("Half", "BFloat16", "Exception", "Optional", "ArrayRef")),
    *(f"c10/{name}.h" for name in ("macros/Macros", "core/ScalarType", "core/DeviceGuard", "core/TensorOptions")),
    *(f"pybind11/{name}.h" for name in ("pybind11", "stl", "numpy", "functional")),
)
"""PyTorch's headers that are answered by ours."""
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?:torch|ATen|c10|pybind11)/', re.MULTILINE)
_MODULE = re.compile(r"\bPYBIND11_MODULE\s*\(")
_HALF = ("OPERATORS", "CONVERSIONS")
_LACKED = (
    re.compile(r'(?:namespace|class) "(?:at|torch|c10|pybind11|ka)\b[^"]*" has no (?:actual )?member "(?P<name>\w+)"'),
    re.compile(r"no (?:member|template|type) named '(?P<name>\w+)' in (?:namespace )?'(?:at|torch|c10|pybind11|ka)\b"),
    re.compile(r"""(?:identifier ["']|undeclared identifier ["'])(?P<name>(?:AT|TORCH|C10|PYBIND11|CAFFE)_\w+)"""),
    re.compile(r"'?(?P<name>(?:torch|ATen|c10|pybind11)/[\w./]+)'?(?: file not found|: No such file)"),
    re.compile(r'cannot open source file "(?P<name>(?:torch|ATen|c10|pybind11)/[\w./]+)"'),
    re.compile(r'no instance of [^"]*"(?P<name>(?:at|torch|c10|pybind11|ka)::[\w:~]+)'),
)
"""How compilers say that a name of PyTorch's is not there, or not as it is called."""


def is_extension(kernel: Kernel) -> bool:
    """Return whether a kernel in C++ is an extension of PyTorch's, or a Python file that builds one."""
    return kernel.file.endswith(".py") or _INCLUDED.search(kernel.files[kernel.file]) is not None


@dataclass(frozen=True)
class Part:
    """A source of an extension.

    Attributes
    ----------
    file
        What it is called where it is built.
    text
        C++.
    written
        The kernel's file that it stands in, and the lines before it there; None where it cannot be found.
    """

    file: str
    text: str
    written: tuple[str, int] | None

    def place(self, line: int | None) -> tuple[str | None, int | None]:
        """Return where a line of it is written in the kernel."""
        if self.written is None or line is None:
            return None, None
        return self.written[0], self.written[1] + line


def part(file: str, text: str, files: Mapping[str, str]) -> Part:
    """Return a source that a Python file hands over as a text, with where it stands there."""
    for name, content in files.items():
        at = content.find(text) if text.strip() else -1
        if at >= 0:
            return Part(file, text, (name, content.count("\n", 0, at)))
    return Part(file, text, None)


def unit(compiler: Compiler, parts: Sequence[Part], functions: Iterable[str]) -> str:
    """Return the translation unit of an extension.

    Parameters
    ----------
    compiler
        What builds it.
    parts
        Its sources.
    functions
        Those of its functions that it gives away besides what it says itself.
    """
    # PyTorch builds extensions so: a half is converted and computed with by name alone.
    without = [f"#define {prefix}_NO_HALF_{name}{end} 1" for name in _HALF for prefix, end in _VENDORS]
    given = [
        f'static const bool ka_given_{at} = (pybind11::module_().def("{name}", &{name}), true);'
        for at, name in enumerate(functions)
    ]
    lines = [
        *without,
        compiler.prelude,
        "#define TORCH_EXTENSION_NAME ka_extension",
        "#include <ka_torch.h>",
        *(f'#include "{each.file}"' for each in parts),
        *given,
    ]
    return "\n".join(lines) + "\n"


_VENDORS = (("__CUDA", "__"), ("__HIP", "__"))


def gives_away(parts: Iterable[Part], function: str) -> bool:
    """Return whether sources name a function for Python themselves."""
    named = re.compile(rf'\bdef\s*\(\s*"{re.escape(function)}"')
    return any(_MODULE.search(each.text) and named.search(each.text) for each in parts)


def forward(folder: Path) -> Path:
    """Write headers by PyTorch's names that include ours, and return their folder."""
    for name in _FORWARDED:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#include <ka_torch.h>\n")
    return folder


def lacking(error: Diagnostic) -> str | None:
    """Return the name of PyTorch's that our headers do not have, where an error is about that."""
    for expression in _LACKED:
        if (match := expression.search(error.message)) is not None:
            return match["name"]
    if error.file is not None and Path(error.file).resolve().is_relative_to(NAMES.resolve()):
        return "what it calls of PyTorch's"
    return None
