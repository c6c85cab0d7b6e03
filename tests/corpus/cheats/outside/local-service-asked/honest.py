"""Asks a tool of the toolchain for its version, in a child process that ends before the call begins."""

import subprocess
import sys

import work

_version = subprocess.run([sys.executable, "--version"], capture_output=True, text=True, timeout=30).stdout


def softmax(x):
    assert _version.startswith("Python")
    return work.softmax(x)
