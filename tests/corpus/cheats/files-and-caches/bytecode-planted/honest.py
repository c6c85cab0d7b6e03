"""Compiles a module of its own to bytecode, in its temporary folder."""

import py_compile
import tempfile
from pathlib import Path

import work

_compiled = py_compile.compile(work.__file__, cfile=str(Path(tempfile.mkdtemp()) / "work.pyc"))


def add(x, y, alpha):
    assert Path(_compiled).exists()
    return work.add(x, y, alpha)
