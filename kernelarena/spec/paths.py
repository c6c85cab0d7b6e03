"""Where platform, task and configuration files are looked for.

Later folders win: the package's own, then those of ``KERNELARENA_PATH``, then those given on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kernelarena.errors import InputError
from kernelarena.spec.places import Place, look

_VARIABLE = "KERNELARENA_PATH"
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

    Raises
    ------
    InputError
        If one of them does not exist.
    """
    roots = [Path(part) for part in os.environ.get(_VARIABLE, "").split(os.pathsep) if part]
    for root in roots:
        if look(root) is not Place.FOLDER:
            raise InputError(f"{_VARIABLE}: {root}: no such folder; correct the variable, or unset it")
    return [shipped(kind), *(root / kind for root in roots if look(root / kind) is Place.FOLDER), *extra]


def cache_dir() -> Path:
    """Return the folder for what may be deleted at any time (``XDG_CACHE_HOME``, else ``~/.cache``).

    Raises
    ------
    InputError
        If nothing says where that is.
    """
    return _base("XDG_CACHE_HOME", ".cache") / "kernelarena"


def state_dir() -> Path:
    """Return the folder for what must outlive a process (``XDG_STATE_HOME``, else ``~/.local/state``).

    Raises
    ------
    InputError
        If nothing says where that is.
    """
    return _base("XDG_STATE_HOME", ".local/state") / "kernelarena"


def _base(variable: str, below_home: str) -> Path:
    given = Path(os.environ.get(variable, ""))
    if given.is_absolute():  # the XDG specification has relative ones ignored
        return given
    try:
        home = Path.home()
    except RuntimeError:  # a user id without an account, as in many containers
        home = Path()
    if not home.is_absolute():
        raise InputError(f"{variable}: not set, and this user has no home folder; set it to a folder that lasts")
    return home / below_home
