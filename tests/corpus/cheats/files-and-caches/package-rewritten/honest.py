"""Writes a table of block sizes into its temporary folder, and reads it from there."""

import json
import tempfile
from pathlib import Path

import work

_table = Path(tempfile.mkdtemp()) / "blocks.json"
_table.write_text(json.dumps({"add": 1024}))


def add(x, y, alpha):
    assert json.loads(_table.read_text())["add"] == 1024
    return work.add(x, y, alpha)
