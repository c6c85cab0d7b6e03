"""Writes a file and renames it when it is complete, both in its own folder."""

import os
import tempfile
from pathlib import Path

import work

_folder = Path(tempfile.mkdtemp())


def add(x, y, alpha):
    (_folder / "notes.new").write_text(f"{tuple(x.shape)}\n")
    os.replace(_folder / "notes.new", _folder / "notes.txt")
    return work.add(x, y, alpha)
