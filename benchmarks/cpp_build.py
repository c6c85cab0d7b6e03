"""How long it takes to judge C++ kernels: built anew, and from the cache.

    python benchmarks/cpp_build.py [--platforms mi300,h100] [--kernels examples/cpp]

Prints seconds of each cell, and the medians. The process that candidates are forked from has started before.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.spec import Evidence, Sweep
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.kernels import load_kernels

EXAMPLES = Path(__file__).parents[1] / "examples" / "cpp"
_BUILD = Sweep(evidence=Evidence.COMPILED)


def main() -> None:
    """Judge every kernel on every platform twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platforms", default="mi250,mi300,a100,h100,h200,b200")
    parser.add_argument("--kernels", default=str(EXAMPLES))
    asked = parser.parse_args()
    chips, tasks = catalogue.load(), load_tasks()
    kernels, _ = load_kernels([asked.kernels], tasks=tasks)
    platforms = [chips[name] for name in asked.platforms.split(",")]
    new, remembered = [], []
    with tempfile.TemporaryDirectory() as cache, Judge() as judge:
        os.environ["XDG_CACHE_HOME"] = cache
        judge.judge(kernels[0], tasks[kernels[0].task], platforms[0], _BUILD.model_copy(update={"cache": False}), 1)
        print(f"{'kernel':24} {'platform':10} {'built, s':>9} {'cached, s':>9}  toolchain")
        for kernel in kernels:
            for platform in platforms:
                first, second = (judge.judge(kernel, tasks[kernel.task], platform, _BUILD, 1) for _ in range(2))
                new.append(first.duration_s)
                remembered.append(second.duration_s)
                said = first.toolchain if first.reason is None else f"{first.reason}: {first.detail}"
                print(f"{kernel.id:24} {platform.id:10} {first.duration_s:9.2f} {second.duration_s:9.3f}  {said}")
    print(f"{'median':35} {statistics.median(new):9.2f} {statistics.median(remembered):9.3f}")
    print(f"of {len(new)} cells, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
