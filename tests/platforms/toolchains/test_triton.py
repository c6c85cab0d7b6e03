"""Naming the toolchain costs no import of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kernelarena.platforms.toolchains import triton


def test_the_version_is_that_of_the_installed_library():
    library = pytest.importorskip("triton")
    assert triton.version() == library.__version__
    assert triton.described() == f"triton {library.__version__}"


def test_asking_imports_neither_triton_nor_torch():
    code = (
        "import sys; from kernelarena.platforms.toolchains import triton; triton.described();"
        "assert not {'torch', 'triton'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_none_is_said_to_be_none(monkeypatch):
    monkeypatch.setattr(triton, "DISTRIBUTIONS", ("no-such-distribution",))
    assert triton.version() is None
    assert triton.described() == "triton (not installed)"


def test_preloading_leaves_no_thread_that_a_fork_would_lose():
    pytest.importorskip("triton")
    code = (
        "import threading; from kernelarena.platforms.toolchains.triton import preload; preload();"
        "import os, sys; assert threading.active_count() == 1;"
        "assert not __import__('torch').cuda.is_initialized();"
        "assert 'torch.fx.experimental.symbolic_shapes' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_are_those_of_the_language_and_cost_no_import():
    library = pytest.importorskip("triton.language")
    assert {"load", "dot", "sigmoid"} <= triton.names() <= set(dir(library))
    code = (
        "import sys; from kernelarena.platforms.toolchains import triton; assert triton.names();"
        "assert 'triton' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
