"""Finds the compiler of a language on this host, once."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from kernelarena.platforms.toolchains.cpp import clang, nvcc
from kernelarena.platforms.toolchains.cpp.compiler import Compiler, Missing
from kernelarena.spec import Language

_MODULES: dict[Language, ModuleType] = {Language.CUDA: nvcc, Language.HIP: clang}


def languages() -> tuple[Language, ...]:
    """Return the languages that are C++."""
    return tuple(_MODULES)


def find(language: Language, arch: str) -> Compiler:
    """Return the first compiler of a language here that builds for an architecture.

    Raises
    ------
    Missing
        If there is none; it says why not the first, and what to install.
    """
    found = _compilers(language)
    for compiler in found:
        if compiler.why_not(arch) is None:
            return compiler
    if not found:
        raise Missing(f"no compiler of {language} was found; {_MODULES[language].INSTALL}")
    raise Missing(found[0].why_not(arch) or "")


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
def _compilers(language: Language) -> tuple[Compiler, ...]:
    return tuple(_MODULES[language].compilers())
