"""Reads a table from its own folder, if it has one there."""

import json
from pathlib import Path

import work

_path = Path(__file__).with_name("blocks.json")
_BLOCKS = json.loads(_path.read_text()) if _path.exists() else {}


def softmax(x):
    assert not _BLOCKS
    return work.softmax(x)
