"""``kab-mc check --static``, and what ``kab-mc check`` tells of a source."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kernelarena.cli import run as kab_mc

KERNEL = "__global__ void k(float* x) {{ x[0] += __shfl_xor_sync({}, x[0], 1); }}\n"
WIDE = """import torch
import triton
import triton.language as tl


@triton.jit
def k(x, y, N, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * N + at, at < N, -float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v))
    tl.store(y + tl.program_id(0) * N + at, e / tl.sum(e), at < N)


def softmax(x):
    x, y = x.contiguous(), torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    k[(x.shape[0],)](x, y, x.shape[1], block, num_warps=32)
    return y
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("src").mkdir()
    Path("src/narrow.cu").write_text(KERNEL.format("0xffffffff"))
    Path("src/wide.cu").write_text(KERNEL.format("~0ull"))


def test_findings_are_told_with_their_place_and_what_to_do(capfd):
    assert kab_mc(["check", "--static", "src"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[:3] == [
        "✗ src/narrow.cu:1:55: lane-mask",
        "      __global__ void k(float* x) { x[0] += __shfl_xor_sync(0xffffffff, x[0],  …",
        "    on mi250, mi300, mi355 and rx7900: __shfl_xor_sync takes a mask of 64 bits",
    ]
    assert any(line.startswith("    instead: a mask type of the width of the warp") for line in lines)
    assert lines[-2].startswith("  1 finding in 1 of 2 files, for a100, b200, ")
    assert not any(len(line) > 80 or line != line.rstrip() for line in lines)


def test_where_nothing_is_found_that_is_said_and_strict_is_content(capfd):
    assert kab_mc(["check", "--static", "--strict", "src/wide.cu", "--platforms", "mi300"]) == 0
    assert capfd.readouterr().out == "  nothing found in 1 file, for mi300\n"
    assert kab_mc(["check", "--static", "--strict", "src", "--platforms", "mi300"]) == 1
    assert kab_mc(["check", "--static", "--strict", "src", "--platforms", "h100,rtx4090"]) == 0


def test_many_of_a_kind_are_listed(capfd):
    Path("many.cu").write_text(KERNEL.format("0xffffffff") * 20)
    assert kab_mc(["check", "--static", "many.cu", "--platforms", "mi300"]) == 0
    out = capfd.readouterr().out
    assert out.count("✗ ") == 3
    assert "and 17 more places with lane-mask, in lines 4, 5, 6, 7, 8, 9, 10, 11, …" in " ".join(out.split())


def test_forms_for_programs(capfd):
    assert kab_mc(["check", "--static", "src", "--json", "--platforms", "mi300"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert [(each["path"], each["line"], each["rule"]) for each in document["findings"]] == [
        ("src/narrow.cu", 1, "lane-mask")
    ]
    assert kab_mc(["check", "--static", "src", "--sarif", "--strict"]) == 1
    assert json.loads(capfd.readouterr().out)["version"] == "2.1.0"


def test_kernels_in_lines_are_named_by_their_line(capfd):
    source = "import pynvml\ndef softmax(x):\n    return x\n"
    line = {"task": "softmax", "language": "triton", "entry": "softmax", "source": source}
    Path("made.jsonl").write_text(f"{json.dumps({**line, 'source': source[14:]})}\n{json.dumps(line)}\n")
    assert kab_mc(["check", "--static", "made.jsonl", "--json"]) == 0
    (finding,) = json.loads(capfd.readouterr().out)["findings"]
    assert (finding["path"].split("/")[0], finding["line"]) == ("made.jsonl:2", 1)
    assert kab_mc(["check", "--static", "made.jsonl:1"]) == 0
    assert "nothing found in 1 file" in capfd.readouterr().out


def test_what_cannot_be_read_is_said(capfd):
    Path("src/cut.py").write_text("def f(:\n")
    assert kab_mc(["check", "--static", "src", "--strict", "--platforms", "h100"]) == 0
    assert capfd.readouterr().out.startswith("– src/cut.py:1: invalid syntax; nothing can be said of it\n")


def test_cpp_that_is_broken_is_said_beside_what_was_found(capfd):
    Path("bad.cu").write_text("int main( {\n")
    Path("half.cu").write_text(KERNEL.format("0xffffffff") + "int main( {\n")
    assert kab_mc(["check", "--static", "bad.cu", "half.cu", "--platforms", "mi300"]) == 0
    out = capfd.readouterr().out
    assert "– bad.cu:1: '(' was never closed; nothing can be said of it\n" in out
    assert "✗ half.cu:1:55: lane-mask" in out
    assert "– half.cu:2: '(' was never closed; nothing more can be said of it\n" in out


def test_a_report_of_one_kernel_has_them_too(capfd):
    Path("wide.py").write_text(WIDE)
    assert kab_mc(["check", "wide.py", "--task", "softmax", "--platforms", "mi300", "--json"]) in (0, 3)
    document = json.loads(capfd.readouterr().out)
    (finding,) = document["findings"]
    assert (finding["rule"], finding["line"], finding["platforms"]) == ("num-warps", 17, ["mi300"])
    assert document["schema"] == "kernelarena.report/1"


def test_what_the_compile_gate_says_is_not_said_again(capfd):
    Path("cut.py").write_text("def softmax(x:\n")
    assert kab_mc(["check", "cut.py", "--task", "softmax", "--platforms", "mi300"]) == 0
    out = capfd.readouterr().out
    assert "syntax-error" in out
    assert "can be said of it" not in out
    assert "cut.py/cut.py" not in out


def test_a_line_that_steers_the_terminal_is_made_harmless(capfd):
    Path("evil.cu").write_text("/*\x1b[2J\x1b]0;x\x07*/" + KERNEL.format("0xffffffff"))
    assert kab_mc(["check", "--static", "evil.cu"]) == 0
    assert "\x1b" not in capfd.readouterr().out


def test_a_kernel_that_is_judged_is_looked_at_too(capfd):
    Path("wide.py").write_text(WIDE)
    assert kab_mc(["check", "wide.py", "--task", "softmax", "--platforms", "mi300"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("✗ mi300: resource-exceeded")
    assert "✗ wide.py:17:57: num-warps" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["src", "--sarif"], "--sarif is a form of the findings of --static"),
        (["src", "--static", "--sarif", "--json"], "and without --json"),
        (["src/wide.cu"], "add --task ID (check --static needs none)"),
        (["src/wide.cu", "src/narrow.cu"], "takes one kernel, not 2"),
        (["--static", "gone"], "gone: no such file or folder"),
        (["--static", "src", "--platforms", "mi30"], "unknown platform 'mi30'"),
        (["--static"], "is missing"),
    ],
)
def test_bad_input(capfd, arguments, said):
    assert kab_mc(["check", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("kab-mc: ")
    assert err.count("\n") == 1
    assert said in err


def test_nothing_heavy_is_loaded_for_it():
    script = (
        "import sys\nfrom kernelarena.cli import run\nrun(['check', '--static', 'src'])\n"
        "heavy = {'torch', 'triton', 'ray', 'pandas', 'numpy', 'pyarrow'} & sys.modules.keys()\nassert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
