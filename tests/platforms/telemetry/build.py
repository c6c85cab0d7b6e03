"""Compiles the stand-ins for the vendors' libraries."""

from __future__ import annotations

import importlib.machinery
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ASIDE = Path(sys.prefix, "aside")
"""Where ``make venv`` puts packages that must not be importable everywhere: Ray does not start where ``amdsmi`` is, and
no driver."""
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def needs(package: str) -> None:
    """Skip where the vendor's package or a C compiler is not to be had."""
    if COMPILER is None:
        pytest.skip("needs a C compiler")
    if find(package) is None:
        pytest.skip(f"needs {package}: make venv")


def find(package: str) -> importlib.machinery.ModuleSpec | None:
    """Return where a vendor's package lies, or None."""
    return importlib.machinery.PathFinder.find_spec(package, [str(ASIDE), *sys.path])


def path() -> str:
    """Return the import path of processes that need a vendor's package."""
    return os.pathsep.join(filter(None, [str(ASIDE), os.environ.get("PYTHONPATH", "")]))


def compile_library(output: Path, *sources: Path, options: tuple[str, ...] = ()) -> None:
    command = [COMPILER, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    subprocess.run([*command, *options, "-I", str(output.parent), "-o", str(output), *map(str, sources)], check=True)


def declarations(package: str, environment: dict[str, str]) -> str:
    """Return the C declarations of ``package``; in a process of its own, since it keeps the library that it finds."""
    command = [sys.executable, str(HERE / "declarations.py"), package]
    environment = {**os.environ, **environment, "PYTHONPATH": path()}
    return subprocess.run(command, env=environment, text=True, check=True, capture_output=True).stdout


def build_amd_smi(folder: Path) -> None:
    """Write ``lib/libamd_smi.so`` into ``folder``, with every symbol that the installed ``amdsmi`` binds.

    The package binds all of them when it is imported, and its declarations can be had only by importing it: first comes
    a library that has the names and nothing else.
    """
    spec = find("amdsmi")
    wrapper = Path(spec.submodule_search_locations[0], "amdsmi_wrapper.py").read_text()
    names = sorted(set(re.findall(r"_libraries\['libamd_smi\.so'\]\.(\w+)", wrapper)))
    library = folder / "lib" / "libamd_smi.so"
    library.parent.mkdir()
    (folder / "names.c").write_text("".join(f"int {name}(void) {{ return 2; }}\n" for name in names))
    compile_library(library, folder / "names.c")
    header = declarations("amdsmi", {"ROCM_PATH": str(folder), "ROCM_HOME": str(folder)})
    (folder / "amd_smi.h").write_text(header)
    (folder / "weak.c").write_text('#define STUB_REFUSES\n#include "amd_smi.h"\n')
    options = ("-DPOWER_INFO_V2",) if "amdsmi_get_power_info_v2" in names else ()
    compile_library(library, HERE / "amd_smi.c", folder / "weak.c", options=(*options, "-I", str(folder)))


def build_nvml(folder: Path) -> None:
    """Write ``libnvidia-ml.so.1`` into ``folder``."""
    (folder / "nvml.h").write_text(declarations("pynvml", {}))
    compile_library(folder / "libnvidia-ml.so.1", HERE / "nvml.c")
