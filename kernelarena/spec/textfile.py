"""Replacing a text file so that it is never seen half-written."""

from __future__ import annotations

import os
from pathlib import Path


def replace(path: Path, text: str) -> None:
    """Replace ``path`` so that a reader sees the old text or the new, whatever happens in between.

    Raises
    ------
    OSError
        If it cannot be written; the old file is untouched then.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
