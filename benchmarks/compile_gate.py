"""What the compile gate costs: the shipped kernels on eight chips, cold and from the cache.

    python benchmarks/compile_gate.py

Each sweep is a process of its own, started as a user starts it, so that interpreter start, imports and the embedded
Ray are in the figures. Memory is the sum over the process and all that it starts (proportional set size), sampled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

CHIPS = "mi250,mi300,mi355,rx7900,a100,rtx4090,h100,b200"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platforms", default=CHIPS)
    parser.add_argument("--kernels", action="append", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = [run(name, Path(scratch), arguments) for name in ("cold", "cached")]
    print(f"{'':8}{'seconds':>9}{'peak MiB':>10}{'cells':>7}{'pass':>6}{'cached':>8}")
    for row in rows:
        print("{name:8}{seconds:9.1f}{peak:10.0f}{cells:7}{passed:6}{cached:8}".format(**row))


def run(name: str, scratch: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Sweep once and return what it cost."""
    command = [sys.executable, "-m", "kernelarena.cli", "sweep", "--platforms", arguments.platforms]
    command += ["--out", str(scratch / name), "--json", "--evidence", "compiled"]
    for path in arguments.kernels:
        command += ["--kernels", path]
    environment = {**os.environ, "XDG_CACHE_HOME": str(scratch / "cache"), "XDG_STATE_HOME": str(scratch / "state")}
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    peak = [0.0]
    watcher = threading.Thread(target=watch, args=(process.pid, peak), daemon=True)
    watcher.start()
    output, _ = process.communicate()
    seconds = time.monotonic() - started
    if process.returncode:
        sys.exit(f"the sweep ended with exit code {process.returncode}")
    cells = json.loads(output)["cells"]
    return {
        "name": name,
        "seconds": seconds,
        "peak": peak[0],
        "cells": len(cells),
        "passed": sum(cell["status"] == "pass" for cell in cells),
        "cached": sum(bool(cell.get("cached")) for cell in cells),
    }


def watch(root: int, peak: list[float]) -> None:
    """Keep the largest memory of ``root`` and its descendants, in MiB, until it ends."""
    while Path(f"/proc/{root}").exists():
        peak[0] = max(peak[0], sum(map(proportional, descendants(root))) / 1024)
        time.sleep(2.0)  # reading it costs the processes that are being measured


def descendants(root: int) -> list[int]:
    """Return ``root`` and every process below it."""
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        for task in Path(f"/proc/{pid}/task").glob("*"):
            try:
                todo += map(int, (task / "children").read_text().split())
            except OSError:
                continue
    return found


def proportional(pid: int) -> float:
    """Return a process's share of the memory it uses, KiB."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return float(line.split()[1])
    except OSError:
        pass
    return 0.0


if __name__ == "__main__":
    main()
