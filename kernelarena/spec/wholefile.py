"""Files that are written whole or not at all, also for a reader at the same moment."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Write a file of a cache, and the folders that it lies in. One that cannot be written costs time, never a run."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
