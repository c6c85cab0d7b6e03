"""NVIDIA's compiler of CUDA C++, from a toolkit (``CUDA_HOME``, PATH, ``/usr/local/cuda``) or from PyPI."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernelarena.platforms.toolchains.artefact import Needs
from kernelarena.platforms.toolchains.cpp.compiler import Compiler, ask, number
from kernelarena.platforms.toolchains.cpp.places import CUDA, named

INSTALL = "install the CUDA toolkit, or pip install nvidia-cuda-nvcc, and set CUDA_HOME or PATH"


@dataclass(frozen=True)
class Nvcc(Compiler):
    """``nvcc`` with the host compiler that it picks.

    Attributes
    ----------
    codes
        The architectures that it builds for.
    """

    codes: frozenset[str]

    def why_not(self, arch: str) -> str | None:
        """Known from ``--list-gpu-code``; a name with ``a`` or ``f`` behind it is a variant of the one without."""
        if arch in self.codes or arch.rstrip("af") in self.codes:
            return None
        return f"{self.version} builds for no {arch}; install a CUDA toolkit that does, and set CUDA_HOME to it"

    def host(self, source: Path, output: Path) -> list[str]:
        """Compile with the host compiler alone."""
        return [self.program, "-DKA_CUDA", "-O1", "-c", "-Xcompiler", "-fPIC", "-o", str(output), str(source)]

    def unit(self, arch: str, source: Path, output: Path, include: list[Path]) -> list[str]:
        """Compile whole programs; ``-Xptxas -v`` prints registers, spills and shared memory of each kernel."""
        return [
            self.program, f"-arch={arch}", "-std=c++17", "-O3", "-c", "-Xcompiler", "-fPIC", "-Xptxas", "-v",
            *(f"-I{folder}" for folder in include), "-o", str(output), str(source),
        ]  # fmt: skip

    def link(self, objects: list[Path], output: Path) -> list[str]:
        """Have the host's linker do it: what was compiled as a whole program leaves nothing to the device's."""
        return [
            self.program, "-shared", "-cudart", "none", "-Xlinker", "-Bsymbolic", "-o", str(output),
            *map(str, objects),
        ]  # fmt: skip

    def prepare(self, arch: str, folder: Path) -> None:
        """Nothing is needed."""

    def needs(self, output: str) -> dict[str, Needs]:
        """Read what ``ptxas`` prints of each entry function; spilled bytes are stores, four to a register."""
        found = {}
        for part in output.split("Compiling entry function ")[1:]:
            name = re.match(r"'([^']+)'", part)
            if name is not None:
                found[name[1]] = Needs(
                    registers=number(r"Used (\d+) registers", part),
                    spills=number(r"(\d+) bytes spill stores", part) // 4,
                    scratch=number(r"(\d+) bytes stack frame", part),
                    static_shared=number(r"(\d+) bytes smem", part),
                )
        return found

    def is_remark(self, line: str) -> bool:
        """``ptxas info``, and the indented line that follows some of them."""
        return line.startswith("ptxas info") or "bytes stack frame" in line

    @property
    def prelude(self) -> str:
        """The runtime's header, which it would include by itself."""
        return "#include <cuda_runtime.h>"

    @property
    def error_type(self) -> str:
        """``cudaError_t``."""
        return "cudaError_t"


def compilers() -> Iterator[Nvcc]:
    """Yield those that this host has, the one that was asked for first."""
    seen = set()
    for path in _places():
        program = shutil.which(path)
        if program is None or program in seen:
            continue
        seen.add(program)
        status, said = ask([program, "--version"])
        version = re.search(r"V(\d+\.\d+\.\d+)", said)
        if status == 0 and version is not None:
            _, codes = ask([program, "--list-gpu-code"])
            yield Nvcc(program, f"nvcc {version[1]}", frozenset(codes.split()))


def _places() -> Iterator[str]:
    for folder in named(CUDA):
        yield f"{folder}/bin/nvcc"
    yield "nvcc"
    yield "/usr/local/cuda/bin/nvcc"
    package = importlib.util.find_spec("nvidia")  # what PyPI's wheels of the toolkit share
    for wheels in [] if package is None else package.submodule_search_locations or []:
        yield from map(str, sorted(Path(wheels).glob("*/bin/nvcc"), reverse=True))
