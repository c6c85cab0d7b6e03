"""Remembers the compile gate's decisions on disk, by everything that they follow from.

The key covers the kernel, the task, the chip and the toolchain. What a kernel imports from elsewhere (an adapter of a
published package, say) is not known before it has run, so an entry also names those files with their digests, and
counts only while they are the same. A look-up imports neither torch nor Triton.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import tempfile
from pathlib import Path

from pydantic import ValidationError

from kernelarena.platforms.toolchains import triton
from kernelarena.protocol.compile import Decision
from kernelarena.spec import Kernel, Language, Platform, TaskSource
from kernelarena.spec.paths import cache_dir

_VERSION = 1
"""Raise it when the gate decides anything differently."""


def toolchain(language: Language) -> str:
    """Return what builds kernels of a language here, with its version, for a verdict: ``triton 3.9.0``."""
    if language is Language.TORCH:
        return f"torch {importlib.metadata.version('torch')}"
    return triton.described()


def key(kernel: Kernel, task: TaskSource, platform: Platform) -> str:
    """Return the key of a cell: SHA-256, hex."""
    parts = {
        "version": _VERSION,
        "kernel": kernel.digest,
        "task": task.digest,
        "platform": platform.model_dump(mode="json", exclude={"source", "notes", "title", "ray", "detect"}),
        "toolchain": [triton.described(), toolchain(Language.TORCH)],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def load(key: str) -> Decision | None:
    """Return the decision kept under ``key`` if there is one and the files that it depends on have not changed."""
    try:
        decision = Decision.model_validate_json(_path(key).read_bytes())
    except (OSError, ValidationError):  # absent, or of another version, or cut short by a full disk
        return None
    return decision if all(_digest(path) == known for path, known in decision.sources.items()) else None


def store(key: str, decision: Decision) -> None:
    """Keep a decision; where the disk does not take it, it is not kept."""
    path = _path(key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(decision.model_dump_json())
            Path(name).replace(path)  # readers see the old entry or the new one, whole
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _path(key: str) -> Path:
    return cache_dir() / "compile" / key[:2] / f"{key}.json"


def _digest(path: str) -> str | None:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None
