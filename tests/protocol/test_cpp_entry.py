"""The entry of a kernel in C++ as a device's process calls it, on a runtime that writes launches down.

What is loaded in place of the vendor's runtime is the recorder, as a library of its own; everything before it is what
runs on a device. In a process of its own, since libraries that are loaded for all cannot be taken back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kernelarena.platforms import catalogue
from kernelarena.platforms.toolchains import cpp
from kernelarena.spec import Language
from tests.judge.test_cpp import HONEST
from tests.judge.test_cpp_extension import BUILDER

SCRIPT = Path(__file__).with_name("cpp_entry_alone.py")


def call(folder, source, file, function, language, platform="h100"):
    try:
        cpp.find(Language(language), catalogue.load()[platform].arch)
    except cpp.Missing as missing:
        pytest.skip(str(missing))
    (folder / "kernel").mkdir()
    (folder / "kernel" / file).write_text(source)
    command = [sys.executable, str(SCRIPT), str(folder), file, function, language, platform]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("source", "file", "function", "language", "platform"),
    [
        pytest.param(HONEST, "kernel.hip", "entry", "hip", "mi300", id="plain"),
        pytest.param(BUILDER, "kernel.py", "ModelNew", "cuda", "h100", id="python"),
    ],
)
def test_a_call_launches_by_the_runtime_and_is_told_of(tmp_path, source, file, function, language, platform):
    found = call(tmp_path, source, file, function, language, platform)
    assert found["returned"] == [["float32", [16, 1024]]]
    (launch,) = found["reached"]
    assert "add_one" in launch["function"]
    assert (launch["grid"], launch["block"]) == ([64, 1, 1], [256, 1, 1])
    assert found["going_to"] == [0]
    assert found["observed"]["launches"] == 1
    assert found["observed"]["kernels"] == [launch["function"]]
    assert found["observed"]["derived"] == [True]


def test_an_error_that_the_entry_returns_is_raised(tmp_path):
    source = HONEST.replace("return hipGetLastError", "return 7 + hipGetLastError")
    assert call(tmp_path, source, "kernel.hip", "entry", "hip")["raised"] == "RuntimeError: the entry returned 7"


def test_what_does_not_compile_is_no_entry(tmp_path):
    source = HONEST.replace("int64_t n = 1;", "int64_t n = nothing;")
    found = call(tmp_path, source, "kernel.hip", "entry", "hip")
    assert found["fault"][:2] == ["import", "kernel.hip"]
    assert "nothing" in found["fault"][3]
