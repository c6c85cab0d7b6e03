"""Remembers how it split each shape, as JSON in its temporary folder, and checks what it remembers."""

import json
import tempfile
from pathlib import Path

import work

_memory = Path(tempfile.mkdtemp())


def add(x, y, alpha):
    path = _memory / f"{x.shape[0]}x{x.shape[1]}.json"
    blocks = (x.numel() + 1023) // 1024
    if path.exists():
        assert json.loads(path.read_text()) == blocks
    path.write_text(json.dumps(blocks))
    return work.add(x, y, alpha)
