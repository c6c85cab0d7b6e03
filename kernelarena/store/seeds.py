"""The hidden seed while a run goes on: out of the run folder, readable by its owner alone.

Whoever knows the seed can draw the hidden shapes. So it is kept apart from everything that kernels, agents and
reports get to see, only its SHA-256 stands in the run folder, and it is published when the run has ended.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from kernelarena.errors import InputError
from kernelarena.spec.paths import state_dir
from kernelarena.spec.places import refusal

_CANNOT_KEEP = "the hidden seed cannot be kept (XDG_STATE_HOME says where)"


def draw() -> int:
    """Return a new seed of 53 bits, from the system's entropy: what reads JSON's numbers as floats keeps them whole."""
    return secrets.randbits(53)


def sha256(seed: int) -> str:
    """Return the SHA-256 of the decimal text of ``seed``, hex."""
    return hashlib.sha256(str(seed).encode()).hexdigest()


def keep(run: str, seed: int) -> None:
    """Keep the seed of ``run`` until ``forget``; on disk before this returns.

    Raises
    ------
    InputError
        If the folder for it cannot be written to, or holds the seed of another run of that id.
    InfraError
        If there is no room.
    """
    path = _path(run)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{path}: holds the hidden seed of another run of that id; start again") from None
    except OSError as error:
        raise refusal(path, error, _CANNOT_KEEP) from None
    try:
        with os.fdopen(handle, "w") as file:
            file.write(f"{seed}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        forget(run)
        raise refusal(path, error, _CANNOT_KEEP) from None


def recall(run: str, digest: str) -> int:
    """Return the seed of ``run``, checked against the published SHA-256.

    Raises
    ------
    InputError
        If it is not kept here, or is not the one that was announced.
    """
    path = _path(run)
    try:
        seed = int(path.read_text())
    except FileNotFoundError:
        raise InputError(
            f"{path}: the hidden seed of run {run} is not here; a run can be resumed only by the user and on the host "
            f"that started it (or with XDG_STATE_HOME pointing there)"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the hidden seed of run {run} cannot be read: {error}") from None
    if sha256(seed) != digest:
        raise InputError(f"{path}: not the hidden seed that run {run} announced (its SHA-256 differs)")
    return seed


def forget(run: str) -> None:
    """Remove the seed of ``run``, if it is kept and can be removed: by now it is published, or of no use."""
    with contextlib.suppress(OSError):
        _path(run).unlink(missing_ok=True)


def _path(run: str) -> Path:
    return state_dir() / "seeds" / run
