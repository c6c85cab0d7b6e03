import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelarena.cli import run as kab_mc
from kernelarena.cluster import watchdog
from kernelarena.spec.catalogue import shipped_kernels
from tests.cli.processes import all_gone, family, until

ROOT = Path(__file__).resolve().parents[2]

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
    monkeypatch.setenv("COLUMNS", "80")
    Path("broken.py").write_text(BROKEN)


def test_a_kernel_that_passes(capfd):
    assert kab_mc(["check", SHIPPED, "--platforms", "mi300", "--strict"]) == 0
    assert re.match(
        r"✓ mi300: \S+ gives right answers on mi300 \(emulated; visible (\d+)/\1;\s+hidden 8/8\)\n\n"
        r"  emulated: ran in emulation .* \(triton\s+\d[^)]*, in the emulator\)\n"
        r"  --hidden-seed \d+ asks the same again\n$",
        capfd.readouterr().out,
    )


def test_the_quick_answer_is_that_it_builds(capfd):
    assert kab_mc(["check", SHIPPED, "--platforms", "mi300", "--strict", "--evidence", "compiled"]) == 0
    assert re.match(
        r"✓ mi300: \S+ builds for and fits mi300 \(compiled; visible (\d+)/\1\)\n\n"
        r"  compiled: built for that chip and held against its limits; never run \(triton\s+\d[^)]*\)\n$",
        capfd.readouterr().out,
    )


def test_a_kernel_that_fails_is_a_result_unless_strict(capfd):
    arguments = ["check", "broken.py", "--task", "softmax", "--platforms", "h100,b580"]
    assert kab_mc(arguments) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("✗ h100: compile-error (compiled; compile gate; visible 0/")
    assert "    broken.py:8: at = tl.arange(0, 1000)" in "\n".join(lines)
    assert any(line.startswith("– b580: device-unavailable") for line in lines)
    assert lines[-1] == "  – skipped: could not be tried here; says nothing about the kernel"
    assert not any(line != line.rstrip() or len(line) > 80 for line in lines)
    assert "TRITON_DEFAULT_FP_FUSION" not in "\n".join(lines), "what the toolchain always says"
    assert not any(Path().glob("reports*")), "nothing is written"

    assert kab_mc([*arguments, "--strict", "--json"]) == 1
    report = json.loads(capfd.readouterr().out)
    assert report["schema"] == "kernelarena.report/1"
    assert [(cell["platform"], cell["status"], cell["reason"]) for cell in report["cells"]] == [
        ("h100", "fail", "compile-error"),
        ("b580", "skipped", "device-unavailable"),
    ]


@pytest.mark.parametrize("strict", [[], ["--strict"]])
def test_where_nothing_could_be_judged_the_exit_code_is_three(capfd, strict):
    assert kab_mc(["check", "broken.py", "--task", "softmax", "--platforms", "b580", *strict]) == 3
    out, err = capfd.readouterr()
    assert out.startswith("– b580: device-unavailable\n")
    assert err == ("kab-mc: broken could not be judged on this platform; kab-mc platforms list says what is missing\n")


def test_a_syntax_error_is_told_with_its_file_and_line_and_once(capfd):
    Path("cut.py").write_text("def softmax(x):\n    return (x\n")
    assert kab_mc(["check", "cut.py", "--task", "softmax", "--platforms", "mi300,h100"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[1:3] == ["    cut.py:2: '(' was never closed", "        return (x"]
    assert lines[lines.index("    as on mi300") - 1].startswith("✗ h100: syntax-error (compiled; compile gate")


REFERENCE = """import os


def inputs(shape, rng):
    return {"x": rng.tensor(shape["M"], shape["N"])}


def reference(x):
    os._exit(0)
"""


def task(name, reference):
    """Make a task that has its own ``reference.py`` and is softmax else; return the arguments that name it."""
    folder = Path("tasks", "lab", name)
    folder.mkdir(parents=True)
    shipped = Path(SHIPPED).parents[1]
    (folder / "task.yaml").write_text((shipped / "task.yaml").read_text().replace("id: softmax", f"id: {name}"))
    (folder / "reference.py").write_text(reference)
    return ["--task", name, "--tasks-dir", "tasks"]


def test_a_task_whose_own_code_leaves_is_named_before_anything_is_judged(capfd):
    arguments = ["check", "broken.py", *task("leaves", REFERENCE), "--platforms", "cpu"]
    assert kab_mc(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.endswith("the task's own code ended the process with exit code 0\n")
    assert "lab/leaves/reference.py: reference() for " in err


PRINTS = """import os
import subprocess
import time

import torch


def noise(of):
    print("noise of", of)
    os.write(1, b"noise below Python\\n")
    subprocess.run(["echo", "noise of a child"])


def noise_for_ever():
    while True:
        noise("what stays")
        time.sleep(0.1)


def inputs(shape, rng):
    noise("inputs")
    return {"x": rng.tensor(shape["M"], shape["N"])}


def reference(x):
    noise("reference")
    return torch.softmax(x, dim=-1)


noise("loading")
"""
FORKS = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(os.environ["NOTED"], "a") as file:
            print(os.getpid(), file=file)
        noise_for_ever()
    os._exit(0)
"""
STAYS = """
import atexit
import threading

threading.Thread(target=noise_for_ever).start()
atexit.register(noise_for_ever)
"""


def noted():
    """Return the processes that a task has left, and which of them stay; what was killed may take a moment to go."""
    left = {int(pid) for pid in Path("noted").read_text().split()}
    end = time.monotonic() + 10
    while (still := left & watchdog.table().keys()) and time.monotonic() < end:
        time.sleep(0.05)
    return left, still


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_a_task_prints_and_leaves_running_is_no_part_of_it(form):
    arguments = ["check", f"{SHIPPED}/kernel.py", *task("noisy", PRINTS + FORKS + STAYS), "--platforms", "cpu", *form]
    done = subprocess.run(
        [sys.executable, "-m", "kernelarena.cli", *arguments, "--strict"],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NOTED": "noted"},
    )
    assert done.returncode == 0, done.stderr
    for what in ("of reference", "of what stays", "below Python", "of a child"):
        assert f"noise {what}\n" in done.stderr, "it helps those who write a task"
    assert "noise" not in done.stdout
    if form:
        assert [cell["status"] for cell in json.loads(done.stdout)["cells"]] == ["pass"]
    else:
        assert done.stdout.startswith("✓ cpu: ")
    left, still = noted()
    assert len(left) > 1, "of trying it, and of judging with it"
    assert not still


def test_in_a_process_that_goes_on_everything_is_as_before(capfd, monkeypatch):
    monkeypatch.setenv("NOTED", "noted")
    before = sys.stdout
    arguments = ["check", f"{SHIPPED}/kernel.py", *task("noisy", PRINTS + FORKS), "--platforms", "cpu", "--strict"]
    assert kab_mc(arguments) == 0
    assert sys.stdout is before
    print("after it", flush=True)
    os.write(1, b"below Python\n")
    out = capfd.readouterr().out
    assert out.startswith("✓ cpu: ")
    assert out.endswith("\nafter it\nbelow Python\n")
    assert "noise" not in out
    left, still = noted()
    assert left
    assert not still


@pytest.mark.parametrize("wait", [0, 1, 6])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order_and_leaves_nothing_running(number, wait):
    Path("endless.py").write_text("print('here', flush=True)\nwhile True: pass\ndef softmax(x): ...\n")
    arguments = ["check", "endless.py", "--task", "softmax", "--platforms", "cpu"]
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelarena.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    until(lambda: len(family(process)) > 1, process)  # beside itself, what tries the task: it loads its judge now
    time.sleep(wait)
    everyone = family(process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, "")
    assert err.endswith("\nkab-mc: interrupted\n")
    assert "Traceback" not in err
    assert all_gone(everyone)


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
