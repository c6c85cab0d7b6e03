"""HIP on NVIDIA's chips: their own compiler, with a header that gives HIP's names to what CUDA calls otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernelarena.platforms.toolchains.cpp import nvcc
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic

INSTALL = nvcc.INSTALL
NAMES = Path(__file__).parent / "hip_names"
"""Holds ``hip/hip_runtime.h``. A host's own HIP may be older than its toolkit."""
_LACKING = re.compile(r"identifier \"(__?hip\w+|hip\w+|__builtin_amdgcn_\w+)\" is undefined|(hip/\S+): No such file")


@dataclass(frozen=True)
class HipOnNvcc(nvcc.Nvcc):
    """``nvcc``, for kernels in HIP."""

    def unit(self, arch: str, source: Path, output: Path, include: list[Path]) -> list[str]:
        """As for CUDA, with HIP's names."""
        return super().unit(arch, source, output, [NAMES, *include])

    def lacks(self, error: Diagnostic) -> str | None:
        """Return what of HIP the header has no name for."""
        match = _LACKING.search(error.message)
        return None if match is None else f"'{match[1] or match[2]}' is not carried over from HIP to CUDA"

    @property
    def prelude(self) -> str:
        """HIP's header, by its usual name."""
        return "#include <hip/hip_runtime.h>"


def compilers() -> Iterator[HipOnNvcc]:
    """Yield one for each ``nvcc`` of this host."""
    for found in nvcc.compilers():
        yield HipOnNvcc(found.program, f"{found.version} with HIP's names", found.codes)
