"""Processes print where they are; only the last stack counts, innermost line first."""

import subprocess
import sys

import pytest

from kernelarena.judge import stacks

_PREAMBLE = "import ctypes, time\nfrom kernelarena.judge import stacks\nstacks.print_when_asked()\n"


def _run(source):
    return subprocess.Popen([sys.executable, "-c", _PREAMBLE + source], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_one_that_is_asked_prints_its_stack_and_goes_on():
    source = "def f():\n    print('here', flush=True)\n    input()\nf()\nprint('still here')\n"
    process = subprocess.Popen(
        [sys.executable, "-c", _PREAMBLE + source],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip
    assert process.stdout.readline() == b"here\n"
    stacks.ask(process.pid)
    heading = process.stderr.readline().decode()
    said, rest = process.communicate(b"\n", timeout=30)
    assert said == b"still here\n"
    innermost, outermost = (line for _, line in stacks.last(heading + rest.decode()))
    assert innermost in (5, 6), "it may still be printing"
    assert outermost == 7
    stacks.ask(process.pid)  # has ended, which is nothing to complain about


@pytest.mark.parametrize(("depth", "cut_off"), [(3, False), (300, True)])
def test_one_that_crashes_prints_as_much_as_there_is_room_for(depth, cut_off):
    process = _run(f"def f(n):\n    f(n - 1) if n else ctypes.string_at(8)\nf({depth})\n")
    text = process.communicate(timeout=30)[1].decode()
    assert stacks.is_cut_off(text) == cut_off
    assert ("<string>", 5) in stacks.last(text)[:3]


def test_only_the_last_stack_counts():
    first = f'Current thread 0x1 ({stacks.HEADING}):\n  File "a.py", line 1 in f\n'
    second = f'Current thread 0x1 ({stacks.HEADING}):\n  File "b.py", line 2 in g\n  File "c.py", line 3 in h\n'
    assert stacks.last(first + second) == [("b.py", 2), ("c.py", 3)]
    assert stacks.last('Traceback (most recent call last):\n  File "a.py", line 1, in f\n') == []
    assert stacks.last("") == []
