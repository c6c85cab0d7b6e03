"""Asks another program once what machine this is, and waits for its answer."""

import functools
import shutil
import subprocess

import work


@functools.cache
def machine():
    program = shutil.which("uname")
    if program is None:
        return "unknown"
    return subprocess.run([program, "-m"], capture_output=True, text=True, check=False).stdout.strip()


def softmax(x):
    assert machine()
    return work.softmax(x)
