"""Adds a folder of its own to the path that modules are looked for in, for itself alone."""

import sys
import tempfile
from pathlib import Path

import work

_folder = Path(tempfile.mkdtemp())
(_folder / "tile_sizes.py").write_text("ADD = 1024\n")
sys.path.append(str(_folder))

import tile_sizes  # noqa: E402


def add(x, y, alpha):
    assert tile_sizes.ADD == 1024
    return work.add(x, y, alpha)
