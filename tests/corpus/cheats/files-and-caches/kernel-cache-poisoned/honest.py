"""Keeps something beside its compiled kernels, in the cache folder that it is given."""

import os
from pathlib import Path

import work

_cache = Path(os.environ.get("XDG_CACHE_HOME", ".")) / "add"
_cache.mkdir(parents=True, exist_ok=True)


def add(x, y, alpha):
    (_cache / "last.txt").write_text(str(tuple(x.shape)))
    return work.add(x, y, alpha)
