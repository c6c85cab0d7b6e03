"""Object files that need not be compiled once more: kernels' units, and what all of them are linked with.

They lie in the folder that goes from the process which compiles a kernel to the one which runs it
(:mod:`kernelarena.platforms.toolchains.built`), by digests of what they were made from. What units are linked with
depends on no kernel: it is compiled once on a host, by a process that runs no kernel's code, and handed over to each.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from kernelarena.platforms.toolchains.artefact import Needs
from kernelarena.platforms.toolchains.built import OF_THE_HOST, Built
from kernelarena.platforms.toolchains.cpp.compiler import Compiler, ask
from kernelarena.spec import wholefile
from kernelarena.spec.paths import cache_dir

_OBJECT, _NEEDS = "unit.o", "needs.json"


class Objects:
    """The object files that one process has been handed, and those that it makes.

    Parameters
    ----------
    folder
        Where they lie; need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def unit(self, name: str) -> tuple[Path, dict[str, Needs]] | None:
        """Return the object of a unit, and what its kernels need; None where it has to be compiled."""
        place = self._folder / name
        try:
            told = json.loads((place / _NEEDS).read_bytes())
        except OSError:
            return None
        return place / _OBJECT, {kernel: Needs(**needs) for kernel, needs in told.items()}

    def keep(self, name: str, compiled: Path, needs: Mapping[str, Needs]) -> Path:
        """Take a unit's object in, and return where it lies now."""
        place = self._folder / name
        place.mkdir(parents=True, exist_ok=True)
        shutil.move(compiled, place / _OBJECT)
        (place / _NEEDS).write_text(json.dumps({kernel: asdict(each) for kernel, each in needs.items()}))
        return place / _OBJECT

    def host(self, compiler: Compiler, source: Path) -> Path | None:
        """Return the object of what units are linked with; None where it has to be compiled."""
        path = self._folder / _host_file(compiler, source)
        return path if path.exists() else None


def unit_name(compiler: Compiler, arch: str, text: str, files: Mapping[str, str]) -> str:
    """Return what the entry of a unit is called.

    Parameters
    ----------
    compiler, arch
        What compiles it, and for which chip.
    text
        The unit itself.
    files
        What it may include, besides the headers of the harness and of the compiler.
    """
    return f"cpp-{_digest(compiler.version, compiler.program, arch, text, sorted(files.items()))}"


def of_the_host(compiler: Compiler, source: Path) -> Built:
    """Return what units are linked with, ready to be handed over: compiled here, unless this host has done so before.

    Parameters
    ----------
    compiler
        What compiles it.
    source
        The recorder, or the watcher.

    Returns
    -------
    mapping
        One file; none where the compiler refuses, which it then tells of whoever has to compile it.
    """
    name = _host_file(compiler, source)
    kept = cache_dir() / "host" / name
    try:
        return {name: kept.read_bytes()}
    except OSError:
        pass
    with tempfile.TemporaryDirectory(prefix="kernelarena-") as folder:
        output = Path(folder, "host.o")
        status, _ = ask(compiler.host(source, output))
        if status != 0:
            return {}
        made = output.read_bytes()
    wholefile.write(kept, made)
    return {name: made}


def _host_file(compiler: Compiler, source: Path) -> str:
    command = compiler.host(source, Path("host.o"))
    digest = _digest(compiler.version, command, source.read_text())
    return f"{OF_THE_HOST}{digest}/{source.stem}.o"


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]
