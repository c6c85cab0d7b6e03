"""Where platform, task and configuration files are looked for.

Later folders win: the package's own, then those of ``KERNELARENA_PATH``, then those given on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(kind: str) -> Path:
    """Return the folder of that kind that comes with the package (``platforms``, ``tasks``, ``configs``).

    In a wheel it lies inside the package as ``data/<kind>``; in a checkout, beside the package.
    """
    packaged = _PACKAGE / "data" / kind
    return packaged if packaged.is_dir() else _PACKAGE.parent / kind


def folders(kind: str, extra: Iterable[Path] = ()) -> list[Path]:
    """Return every folder of that kind, in the order in which they are read.

    ``KERNELARENA_PATH`` holds folders, separated as ``PATH`` is, each of which may have ``platforms/``, ``tasks/``
    and ``configs/`` inside it.
    """
    roots = [Path(part) for part in os.environ.get("KERNELARENA_PATH", "").split(os.pathsep) if part]
    return [shipped(kind), *(root / kind for root in roots if (root / kind).is_dir()), *extra]


def cache_dir() -> Path:
    """Return the folder for what may be deleted at any time (``XDG_CACHE_HOME``, else ``~/.cache``)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernelarena"


def state_dir() -> Path:
    """Return the folder for what must outlive a process (``XDG_STATE_HOME``, else ``~/.local/state``)."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "kernelarena"
