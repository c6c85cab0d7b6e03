"""CUDA on AMD's chips: translated to HIP, name by name, and built by the compiler of HIP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kernelarena.platforms.dialects.cpp import CALLS, HEADERS
from kernelarena.platforms.dialects.lanes import MASKED
from kernelarena.platforms.dialects.where import AMD, find
from kernelarena.platforms.toolchains.cpp import clang, hipify
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic

INSTALL = clang.INSTALL
_NAME = re.compile(r"(?:undeclared identifier|unknown type name|no template named|no member named) '(\w+)'")
_GROUP = re.compile(r"no (?:member|type|template) named '(\w+)' in namespace 'cooperative_groups'")
_HEADER = re.compile(r"'([\w./-]+)' file not found")
_OF_CUDA = re.compile(r"(?:__)?(?:cuda|cub|cutlass|cute|nvcuda|nvtx|wmma|thrust|nv_|CU(?=[a-z_])|cu(?=[A-Z]))\w*")
_OF_HIP = re.compile(r"(?:hip\w*|roc\w*|thrust)/")


@dataclass(frozen=True)
class CudaOnClang(clang.Clang):
    """Clang with HIP, for kernels in CUDA."""

    def translated(self, text: str) -> str:
        """Give names of CUDA's those of HIP."""
        return hipify.translated(text)

    def lacks(self, error: Diagnostic) -> str | None:
        """Return what of CUDA has no translation, or has one that this HIP does not have yet."""
        name = _GROUP.search(error.message) or _NAME.search(error.message)
        if name is not None and (name.re is _GROUP or _is_of_cuda(name[1])):
            return f"'{name[1]}' is not carried over from CUDA to {self.hip}"
        header = _HEADER.search(error.message)
        if header is None:
            return None
        if _OF_HIP.match(header[1]) is not None:
            return f"'{header[1]}', which a header of CUDA's is translated to, is not installed with {self.hip}"
        if _OF_CUDA.match(header[1]) is not None or find(header[1], HEADERS) is not None:
            return f"'{header[1]}' is not carried over from CUDA to {self.hip}"
        return None

    @property
    def translator(self) -> str:
        """The table of PyTorch's."""
        return hipify.version()

    @property
    def hip(self) -> str:
        """Which HIP it is: ``HIP 6.4.0``."""
        return re.search(r"HIP [\d.]+", self.version)[0]  # type: ignore[index]


def _is_of_cuda(name: str) -> bool:
    construct = find(name, CALLS)
    elsewhere = construct is not None and all(where.backend != AMD for where in construct.where)
    return elsewhere or name in MASKED or _OF_CUDA.fullmatch(name) is not None


def compilers() -> Iterator[CudaOnClang]:
    """Yield one for each compiler of HIP on this host."""
    for found in clang.compilers():
        version = f"{found.version} and {hipify.version()}"
        yield CudaOnClang(found.program, version, found.root, found.bitcode)
