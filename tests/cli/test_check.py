import json
import re
from pathlib import Path

import pytest

from kernelarena.cli import check as module
from kernelarena.cli import run as kab_mc
from kernelarena.spec import Evidence, Gate, Location, Reason, Status, Tally
from kernelarena.spec.catalogue import shipped_kernels
from tests.store.samples import verdict

SHIPPED = next(str(path) for path in shipped_kernels() if path.parent.parent.name == "softmax")
BROKEN = """import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, 1000)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


def softmax(x):
    y = torch.empty_like(x)
    copy[(1,)](x, y, x.numel(), BLOCK=1024)
    return y
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text(BROKEN)


def test_a_kernel_that_passes(capfd):
    assert kab_mc(["check", SHIPPED, "--platforms", "mi300", "--strict"]) == 0
    assert re.match(
        r"✓ mi300: \S+ builds for and fits mi300 \(compiled, never run there; triton \d", capfd.readouterr().out
    )


def test_a_kernel_that_fails_is_a_result_unless_strict(capfd):
    arguments = ["check", "broken.py", "--task", "softmax", "--platforms", "h100,b580"]
    assert kab_mc(arguments) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("✗ h100: compile-error (compiled, never run there; compile gate; triton")
    assert "    broken.py:8: at = tl.arange(0, 1000)" in "\n".join(lines)
    assert any(line.startswith("– b580: device-unavailable") for line in lines)
    assert not any(Path().glob("reports*")), "nothing is written"

    assert kab_mc([*arguments, "--strict", "--json"]) == 1
    report = json.loads(capfd.readouterr().out)
    assert report["schema"] == "kernelarena.report/1"
    assert [(cell["platform"], cell["status"], cell["reason"]) for cell in report["cells"]] == [
        ("h100", "fail", "compile-error"),
        ("b580", "skipped", "device-unavailable"),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.py", "--task", "softmax"], "gone.py: no such file or folder"),
        (["broken.py"], "a single file does not say which task it solves; add --task ID"),
        (["broken.py", "--task", "sofmax"], "unknown task 'sofmax'; did you mean 'softmax'"),
        (["broken.py::nope", "--task", "softmax"], "broken.py has no function 'nope'"),
        (["broken.py", "--task", "softmax", "--platforms", "mi30"], "unknown platform 'mi30'"),
        (["many"], "many: holds 2 kernels; check takes one"),
    ],
)
def test_bad_input(capfd, arguments, said):
    for name in ("one", "two"):
        Path("many", name).mkdir(parents=True)
        Path("many", name, "kernel.yaml").write_text("task: softmax\nlanguage: triton\nentry: k.py::softmax\n")
        Path("many", name, "k.py").write_text(BROKEN)
    assert kab_mc(["check", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(r"kab-mc: .*\n", err)
    assert said in err


def test_a_failure_shows_what_its_reader_needs():
    shown = verdict(status=Status.FAIL, log="\n".join(f"line {n}" for n in range(40))).model_copy(
        update={
            "reason": Reason.MISMATCH,
            "evidence": Evidence.EMULATED,
            "gate": Gate.HIDDEN,
            "detail": "3 of 8 shapes differ\x1b[2J",
            "location": Location(file="k.py", line=3, text="    y = x"),
            "visible": Tally(passed=6, total=6),
            "notes": ("one configuration does not fit",),
        }
    )
    lines = list(module._lines(shown))
    assert "mismatch (emulated, not" in lines[0]
    assert "hidden gate; visible 6/6" in lines[0]
    assert "\x1b[2J" not in "".join(lines)
    assert "    k.py:3: y = x" in lines
    assert "    note: one configuration does not fit" in lines
    assert sum("| line" in line for line in lines) == module._LOG_LINES
    assert "line 39" in lines[-1]
