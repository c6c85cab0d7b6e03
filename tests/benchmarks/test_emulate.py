"""The benchmark of the emulator runs, tells what it ran, and its answers are right."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_kernel_is_run_on_all_its_shapes_and_what_it_came_to_is_printed():
    kernel = ROOT / "tasks/elementwise/add/kernels/triton"
    command = [sys.executable, "benchmarks/emulate.py", str(kernel), "--hidden", "1", "--processes", "1"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True).stdout
    assert re.search(r"^add\S* +2/2 .* [1-9][0-9,]* +\d+ k/s$", printed, re.MULTILINE), printed
    assert "1 of 1 kernels right" in printed
    assert re.search(r"^  memory +[1-9][0-9,]* wave-instructions", printed, re.MULTILINE), printed
