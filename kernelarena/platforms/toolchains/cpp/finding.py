"""Finds the compiler of a language on this host, once."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from kernelarena.platforms.toolchains.cpp import clang, cuda_on_clang, hip_on_nvcc, nvcc
from kernelarena.platforms.toolchains.cpp.compiler import Compiler, Missing
from kernelarena.spec import Language

_MODULES: dict[tuple[Language, str], ModuleType] = {
    (Language.CUDA, "sm_"): nvcc,
    (Language.CUDA, "gfx"): cuda_on_clang,
    (Language.HIP, "gfx"): clang,
    (Language.HIP, "sm_"): hip_on_nvcc,
}
"""By language and how the architecture's name begins."""


def find(language: Language, arch: str) -> Compiler:
    """Return the first compiler of a language here that builds for an architecture.

    Raises
    ------
    Missing
        If there is none; it says why not the first, and what to install.
    """
    module = next(
        (found for (its, begins), found in _MODULES.items() if its is language and arch.startswith(begins)), None
    )
    if module is None:
        raise Missing(f"nothing compiles {language} for {arch}")
    found = _compilers(module)
    for compiler in found:
        if compiler.why_not(arch) is None:
            return compiler
    raise Missing((found[0].why_not(arch) if found else None) or f"no compiler of {language}: {module.INSTALL}")


def described(language: Language, arch: str) -> str:
    """Return what builds a language for an architecture, with its version, for a verdict."""
    try:
        return find(language, arch).version
    except Missing:
        return f"{language} (no compiler)"


def identity(language: Language, arch: str) -> str:
    """Return what tells one compiler's results from another's: its version and where it lies."""
    try:
        compiler = find(language, arch)
    except Missing:
        return ""
    return f"{compiler.version} {compiler.program}"


@cache
def _compilers(module: ModuleType) -> tuple[Compiler, ...]:
    return tuple(module.compilers())
