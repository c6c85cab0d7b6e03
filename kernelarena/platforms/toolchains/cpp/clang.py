"""Clang for AMD's chips: ROCm's own, or a distribution's with its headers of HIP and device libraries.

``hipcc`` is a script around it that picks ``nvcc`` where it finds one; calling the compiler leaves it no choice.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernelarena.platforms.toolchains.artefact import Needs
from kernelarena.platforms.toolchains.cpp.compiler import Compiler, ask, number
from kernelarena.platforms.toolchains.cpp.places import ROCM, named

INSTALL = "install ROCm and set ROCM_PATH, or Debian's clang-19, lld-19, libamdhip64-dev and rocm-device-libs"
_BITCODE = ("amdgcn/bitcode", "lib/llvm/lib/clang/*/lib/amdgcn/bitcode", "lib/x86_64-linux-gnu/amdgcn/bitcode")
"""Folders of device libraries, below where ROCm lies: its own, and Debian's."""
_SAME_LIBRARY = {"gfx941": "gfx940", "gfx942": "gfx940"}
"""Chips whose library of a family's settings is that of another, where a distribution lacks it under its own name."""
_NEWEST, _OLDEST = 30, 17


@dataclass(frozen=True)
class Clang(Compiler):
    """Clang with a tree of ROCm's headers and libraries.

    Attributes
    ----------
    root
        The tree; ``/usr`` for a distribution's.
    bitcode
        Its folder of device libraries.
    """

    root: str
    bitcode: str

    def why_not(self, arch: str) -> str | None:
        """Asked of the compiler by name; the device libraries must have the chip's settings too."""
        if not arch.startswith("gfx"):
            return f"{self.version} builds for AMD's chips, and {arch} is none"
        if not _accepts(self.program, arch):
            return f"{self.version} builds for no {arch}; install a newer ROCm and set ROCM_PATH to it"
        if self._settings(arch) is None:
            return f"the device libraries in {self.bitcode} are too old for {arch}; install a newer ROCm"
        return None

    def _settings(self, arch: str) -> Path | None:
        for name in (arch, _SAME_LIBRARY.get(arch, arch)):
            path = Path(self.bitcode, f"oclc_isa_version_{name.removeprefix('gfx')}.bc")
            if path.exists():
                return path
        return None

    def host(self, source: Path, output: Path) -> list[str]:
        """Compile against HIP's headers."""
        return [
            self.program, "-D__HIP_PLATFORM_AMD__", f"-I{self.root}/include", "-std=c++17", "-O1", "-fPIC",
            "-c", "-o", str(output), str(source),
        ]  # fmt: skip

    def unit(self, arch: str, source: Path, output: Path, include: list[Path]) -> list[str]:
        """Compile without relocatable device code; the remarks print what each kernel needs."""
        return [
            self.program, f"--offload-arch={arch}", f"--rocm-path={self.root}",
            f"--rocm-device-lib-path={output.parent / 'bitcode'}", "-std=c++17", "-O3", "-fPIC", "-c",
            "-Rpass-analysis=kernel-resource-usage", "-fno-caret-diagnostics", "-ferror-limit=20",
            *(f"-I{folder}" for folder in include), "-o", str(output), "-x", "hip", str(source),
        ]  # fmt: skip

    def link(self, objects: list[Path], output: Path) -> list[str]:
        """Link as host code; the device's is inside the objects."""
        return [self.program, "-shared", "-fuse-ld=lld", "-Wl,-Bsymbolic", "-o", str(output), *map(str, objects)]

    def assembly(self, arch: str, source: Path, output: Path, include: list[Path]) -> list[str]:
        """Compile the device's half alone, with the options of :meth:`unit`."""
        return [
            self.program, "--cuda-device-only", "-S", f"--offload-arch={arch}", f"--rocm-path={self.root}",
            f"--rocm-device-lib-path={output.parent / 'bitcode'}", "-std=c++17", "-O3", "-gline-tables-only",
            *(f"-I{folder}" for folder in include), "-o", str(output), "-x", "hip", str(source),
        ]  # fmt: skip

    def prepare(self, arch: str, folder: Path) -> None:
        """Lay out the device libraries under the names that the compiler looks for."""
        place = folder / "bitcode"
        place.mkdir(exist_ok=True)
        for library in Path(self.bitcode).glob("*.bc"):
            (place / library.name).symlink_to(library)
        settings, wanted = self._settings(arch), place / f"oclc_isa_version_{arch.removeprefix('gfx')}.bc"
        if settings is not None and not wanted.is_symlink():
            wanted.symlink_to(settings)

    def needs(self, output: str) -> dict[str, Needs]:
        """Read the remarks of each kernel.

        Architectural and accumulation registers share one file, the latter after the former rounded up to four (LLVM,
        *User Guide for AMDGPU Backend*, "Code Object V3 Metadata").
        """
        found = {}
        for part in output.split("remark: Function Name: ")[1:]:
            name = part.split(maxsplit=1)[0]
            vector, accumulation = number(r" VGPRs: (\d+)", part), number(r"AGPRs: (\d+)", part)
            found[name] = Needs(
                registers=-(-vector // 4) * 4 + accumulation if accumulation else vector,
                scalar_registers=number(r"SGPRs: (\d+)", part),
                spills=number(r"VGPRs Spill: (\d+)", part),
                scratch=number(r"ScratchSize \[bytes/lane\]: (\d+)", part),
                static_shared=number(r"LDS Size \[bytes/block\]: (\d+)", part),
            )
        return found

    def is_remark(self, line: str) -> bool:
        """Know them by the option that ``-Rpass-analysis`` ends its lines with."""
        return "[-Rpass-analysis=kernel-resource-usage]" in line

    @property
    def prelude(self) -> str:
        """HIP's header."""
        return "#include <hip/hip_runtime.h>"

    @property
    def error_type(self) -> str:
        """``hipError_t``."""
        return "hipError_t"


@cache
def _accepts(program: str, arch: str) -> bool:
    command = [program, "-x", "hip", f"--offload-arch={arch}", "-nogpulib", "-nogpuinc", "-###", "-c", os.devnull]
    return ask([*command, "-o", os.devnull])[0] == 0


def compilers() -> Iterator[Clang]:
    """Yield those that this host has: ROCm's before the distribution's."""
    for program, root in _roots():
        yield from _found(program, root)


def _roots() -> Iterator[tuple[str, str]]:
    for root in [*named(ROCM), "/opt/rocm"]:
        for name in ("llvm/bin/amdclang++", "llvm/bin/clang++", "lib/llvm/bin/clang++"):
            yield f"{root}/{name}", root
    for version in range(_NEWEST, _OLDEST - 1, -1):
        yield f"clang++-{version}", "/usr"


def _found(path: str, root: str) -> Iterator[Clang]:
    program, bitcode, hip = shutil.which(path), _bitcode(root), _hip_version(root)
    if program is None or bitcode is None or hip is None:
        return
    status, said = ask([program, "--version"])
    version = re.search(r"clang version (\S+)", said)
    if status == 0 and version is not None:
        yield Clang(program, f"clang {version[1]} with HIP {hip}", root, bitcode)


def _bitcode(root: str) -> str | None:
    for pattern in _BITCODE:
        for folder in sorted(Path(root).glob(pattern), reverse=True):
            if (folder / "ockl.bc").exists():
                return str(folder)
    return None


def _hip_version(root: str) -> str | None:
    try:
        header = Path(root, "include/hip/hip_version.h").read_text(errors="replace")
    except OSError:
        return None
    return ".".join(str(number(rf"HIP_VERSION_{part}\s+(\d+)", header)) for part in ("MAJOR", "MINOR", "PATCH"))
