"""Remembers decisions of the compile gate on disk, by the content of everything that they depend on.

Looking one up imports neither torch nor Triton. An entry names the files that the kernel imported from outside its own
folder (a published kernel package, say), and holds only while those are unchanged.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import stat
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from kernelarena.platforms.toolchains import built, cpp, triton
from kernelarena.protocol.compile import Decision
from kernelarena.spec import Kernel, Language, Platform, TaskSource, wholefile
from kernelarena.spec.paths import cache_dir

_SOURCE_LIMIT = 64 * 2**20  # bytes
_MOST_BUILT = 2 << 30
"""Bytes of binaries that are kept; they are of use from when a kernel is compiled until it is run, and rarely again."""
_PACKAGE = Path(__file__).resolve().parent.parent


def toolchain(language: Language, arch: str = "") -> str:
    """Return what builds kernels of a language for an architecture, with its version: ``triton 3.9.0``."""
    if language.is_cpp:
        return cpp.described(language, arch)
    return f"torch {_version('torch')}" if language is Language.TORCH else triton.described()


def key(kernel: Kernel, task: TaskSource, platform: Platform) -> str:
    """Return the name of an entry: SHA-256, hex, over all that the decision depends on.

    That is the kernel's sources and entry; the task with its shapes, dtypes and reference; the platform with its
    target and limits; the versions of the compiler, torch, NumPy and Python; and the harness's own code of this gate.
    """
    parts = {
        "kernel": kernel.digest,
        "task": task.digest,
        "platform": platform.model_dump_json(),
        "triton": triton.version(),
        "compiler": cpp.identity(kernel.language, platform.arch) if kernel.language.is_cpp else None,
        "torch": _version("torch"),
        "numpy": _version("numpy"),
        "python": list(sys.version_info[:3]),
        "harness": _own_code(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def load(name: str) -> Decision | None:
    """Return the decision remembered under ``name``; None if there is none, or it is damaged or out of date."""
    try:
        decision = Decision.model_validate_json(_path(name).read_bytes())
    except (OSError, ValidationError):
        return None
    fresh = all(_file_digest(path) == digest for path, digest in decision.sources.items())
    return decision if fresh else None


def store(name: str, decision: Decision) -> None:
    """Remember a decision. A cache that cannot be written costs time, never a run."""
    wholefile.write(_path(name), decision.model_dump_json().encode())


def load_built(name: str) -> dict[str, bytes]:
    """Return what the toolchain built for the decision under ``name``; nothing where that is not known."""
    try:
        return built.unpacked(_path(name, "zip").read_bytes())
    except OSError:
        return {}


def store_built(name: str, files: built.Built) -> None:
    """Remember what the toolchain built, and forget what lies there longest where that would be too much."""
    wholefile.write(_path(name, "zip"), built.packed(files))
    _prune(_MOST_BUILT)


def _prune(most: int) -> None:
    found = []
    for path in (cache_dir() / "compile").glob("*/*.zip"):
        with contextlib.suppress(OSError):  # another process prunes as well
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    excess = sum(size for _, size, _ in found) - most
    for _, size, path in sorted(found):
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size


def _path(name: str, kind: str = "json") -> Path:
    return cache_dir() / "compile" / name[:2] / f"{name}.{kind}"


def _file_digest(path: str) -> str | None:
    """Return the digest of a source file. The name was claimed by a kernel's process and may be any path at all."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _SOURCE_LIMIT:
            return None
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return None


@cache
def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


@cache
def _own_code() -> str:
    """Digest of the modules that make up this gate, so that no change of theirs needs a version to be bumped."""
    digest = hashlib.sha256()
    for path in _own_files():
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _own_files() -> Iterator[Path]:
    yield from sorted((_PACKAGE / "platforms" / "persona").glob("*.py"))
    yield from sorted((_PACKAGE / "platforms" / "toolchains").glob("*.py"))
    yield from sorted(path for path in (_PACKAGE / "platforms" / "toolchains" / "cpp").rglob("*.*") if path.is_file())
    yield from sorted((_PACKAGE / "protocol").glob("compile*.py"))
    for name in ("entry", "fallback", "limits", "occupancy"):
        yield _PACKAGE / "protocol" / f"{name}.py"
