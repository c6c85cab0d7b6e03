"""The Triton toolchain: which one is installed, and what a process loads before it forks."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

DISTRIBUTIONS = ("triton", "pytorch-triton-rocm", "triton-rocm", "pytorch-triton", "triton-xpu")
"""Whose files the package ``triton`` may be: PyPI's, and those that builds of torch for other runtimes bring."""

_LATE_IMPORTS = (
    "triton.compiler.code_generator",
    "triton.testing",
    "triton.language.extra.libdevice",
    "triton.tools.tensor_descriptor",
    "triton.experimental.gluon.nvidia.hopper",  # by the first launch
    "torch.utils.flop_counter",
    "torch.fx.experimental.symbolic_shapes",  # by operators on the meta device, and by backward
)
"""Modules that Triton and torch import only when something first needs them."""


def version() -> str | None:
    """Return the installed version, or None. Imports nothing of it."""
    for name in DISTRIBUTIONS:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def described() -> str:
    """Return the toolchain with its version, for a verdict: ``triton 3.9.0``."""
    return f"triton {version() or '(not installed)'}"


@cache
def names() -> frozenset[str]:
    """Return what the installed ``triton.language`` offers, read from its text; nothing where none is installed."""
    found = importlib.util.find_spec("triton")
    if found is None or not found.submodule_search_locations:
        return frozenset()
    try:
        text = (Path(found.submodule_search_locations[0]) / "language" / "__init__.py").read_text(encoding="utf-8")
    except OSError:
        return frozenset()
    lists = (
        one.value
        for one in ast.parse(text).body
        if isinstance(one, ast.Assign) and any(ast.unparse(target) == "__all__" for target in one.targets)
    )
    return frozenset(word for words in lists for word in ast.literal_eval(words))


def preload() -> None:
    """Import everything that compiling needs and fill the caches that do not depend on the kernel or the chip.

    For a process that others are forked from. Compiles nothing, and starts no thread that a fork would lose.
    """
    for module in _LATE_IMPORTS:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    from triton.runtime.cache import triton_key

    triton_key()  # hashes the whole library: a third of a second
    for warm in (_warm_ptxas, _warm_amd, native_driver):
        try:
            warm()
        except Exception:  # what cannot be warmed is loaded when it is needed
            continue


def _warm_ptxas() -> None:
    from triton.backends.nvidia import compiler

    get_version: Callable[[int], str] = compiler.get_ptxas_version
    for arch in (80, 89, 90, 100):
        get_version(arch)
        compiler.get_ptxas(arch)
    for library in _bitcode(os.path.dirname(compiler.__file__)):
        compiler.file_hash(library)


def _warm_amd() -> None:
    from triton.backends.amd import compiler

    for library in _bitcode(os.path.dirname(compiler.__file__)):
        compiler.file_hash(library)
    if hasattr(compiler, "get_amd_codegen_revision"):  # since 3.8 its code generator is a library of its own
        compiler.get_amd_codegen_revision()


def _bitcode(folder: str) -> list[str]:
    lib = os.path.join(folder, "lib")
    return [os.path.join(lib, name) for name in sorted(os.listdir(lib)) if name.endswith(".bc")]


@cache
def native_driver() -> Any | None:
    """Return Triton's driver object of this host's devices, or None where there are none; no device is touched.

    It compiles and loads a helper in C, which takes a second that forked processes need not spend again.
    """
    import torch

    node, name = ("/dev/kfd", "amd") if torch.version.hip else ("/dev/nvidiactl", "nvidia")
    if not Path(node).exists() or os.environ.get("TRITON_INTERPRET"):
        return None
    from triton.backends import backends

    return backends[name].driver()
