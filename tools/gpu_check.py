"""Check everything that needs a GPU on the one of this host, and print what came of it in short tables.

    python tools/gpu_check.py [--only tests,kernels,…] [--part K/N] [--per-device N]

tests      every test that is marked ``gpu``
kernels    the shipped and the generated kernels, swept over the device's platform, against what is expected of them,
           and where the time went
cheats     the corpus of cheats that need a device, with their honest twins
overhead   what judging costs beyond a kernel's own time
tasks      whether the tasks' checkers can be trusted, at full shapes
accepted   whether the shipped kernels pass with every seed, at full shapes
power      pairs of identical kernels, and of one that is 3 % slower: what is claimed of them
agreement  times beside those of a profiler

The first four by default. ``--part 2/5`` takes every fifth task, from the second on, of ``kernels``, ``tasks`` and
``accepted``, which take an hour whole. On a host without a device it says so and ends with 0. Nothing about the device
is changed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIGURES = (("energy", 1e3, "mJ"), ("power", 1, "W"), ("clock", 1, "MHz"), ("temperature", 1, "°C"))
sys.path.insert(0, str(ROOT))

from kernelarena.platforms.backend import backend_for  # noqa: E402
from kernelarena.platforms.catalogue import load  # noqa: E402
from kernelarena.spec import Durations, Reason  # noqa: E402
from kernelarena.spec.catalogue import load_tasks  # noqa: E402

CLI = (sys.executable, "-m", "kernelarena.cli")


def main() -> int:
    """Return 0 if everything is as it should be."""
    given = arguments()
    print(surroundings())
    platform = device()
    if platform is None:
        print("no backend finds a device of a known platform in this host")
        return 0
    results = {}
    for name in given.only:
        print(f"\n== {name} ({platform})", flush=True)
        started = time.monotonic()
        results[name] = PARTS[name](platform, given)
        print(f"{'as it should be' if results[name] else 'NOT as it should be'}, {time.monotonic() - started:.0f} s")
    return 0 if all(results.values()) else 1


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(list(PARTS)[:4]), metavar="PARTS")
    parser.add_argument("--part", default="1/1", metavar="K/N")
    parser.add_argument("--per-device", type=int, default=1, metavar="N")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="of `accepted`")
    given = parser.parse_args()
    given.only = given.only.split(",")
    if unknown := set(given.only) - set(PARTS):
        parser.error(f"unknown part '{sorted(unknown)[0]}'; known: {', '.join(PARTS)}")
    try:
        first, step = map(int, given.part.split("/"))
    except ValueError:
        first, step = 0, 0
    if not 1 <= first <= step:
        parser.error(f"--part {given.part}: is no K/N with K from 1 to N")
    given.tasks = sorted(load_tasks())[first - 1 :: step]
    return given


def device() -> str | None:
    """Return the id of the platform of this host's first device; asked without opening it."""
    for id_, platform in load().items():
        backend = backend_for(platform)
        if backend is not None and backend.present(platform):
            return id_
    return None


def tests(platform: str, given: argparse.Namespace) -> bool:
    """Run the tests that are marked ``gpu``."""
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch) / "results.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", f"--junitxml={results}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if not results.exists():
            print(done.stdout + done.stderr)
            return False
        cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    for case in cases:
        print(f"{outcome(case):9}{float(case.get('time', 0)):7.1f} s  {case.get('classname')}.{case.get('name')}")
        for child in case:
            print(f"{'':20}{(child.get('message') or '').splitlines()[0][:200]}")
    counts = {word: sum(outcome(case) == word for case in cases) for word in ("passed", "failed", "skipped")}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return done.returncode == 0


def outcome(case: ElementTree.Element) -> str:
    """Return ``passed``, ``failed`` or ``skipped``."""
    tags = {child.tag for child in case}
    return "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"


def kernels(platform: str, given: argparse.Namespace) -> bool:
    """Sweep the shipped kernels and the generated ones, and hold their cells against what is expected of them."""
    expected = expectations()
    with tempfile.TemporaryDirectory() as scratch:
        command = [*CLI, "sweep", "--platforms", platform, "--json", "--out", "run"]
        command += [f"--kernels={folder}" for folder in (ROOT / "examples" / "generated", ROOT / "tasks")]
        command += [f"--per-device={given.per_device}", *(f"--tasks={task}" for task in given.tasks)]
        began = time.monotonic()
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
    try:
        cells = json.loads(done.stdout)["cells"]
    except ValueError:
        print(done.stdout[-2000:] + done.stderr[-4000:])
        return False
    good = True
    for cell in sorted(cells, key=lambda cell: cell["kernel"]):
        wanted = expected.get(cell["kernel"], {("pass", None)})
        fits = (cell["status"], Reason(cell["reason"]).group.value if cell["reason"] else None) in wanted
        good &= fits and cell["evidence"] == "measured"
        found = " ".join(filter(None, (cell["status"], cell["reason"])))
        told = figures(cell) if fits else f"   EXPECTED {sorted(wanted)}: {cell['detail'][:160]}"
        print(f"{cell['kernel'][:34]:34} {cell['evidence'] or '-':9}{found:28}{cell['duration_s']:6.1f} s{told}")
    count = max(1, len(cells))
    print(f"{count} cells in {seconds:.0f} s, {seconds / count:.1f} s each; on average a cell's own time went to")
    for phase in Durations.model_fields:
        print(f"{phase:12}{sum(cell['durations'][phase] for cell in cells) / count:7.2f} s")
    print(*(line for line in done.stderr.splitlines() if line.startswith(f"{platform}:")), sep="\n")  # how it was used
    return good and bool(cells)


def figures(cell: dict[str, Any]) -> str:
    """Return what was measured of a kernel: speedup with its interval, share of the roofline, energy, clock."""
    words = []
    if (speedup := cell["speedup"]) is not None:
        words.append(f"{speedup['median']:6.2f}x [{speedup['ci'][0]:.2f}, {speedup['ci'][1]:.2f}]")
    if (efficiency := cell["efficiency"]) is not None and efficiency["architectural"] is not None:
        words.append(f"roofline {efficiency['architectural']:4.0%}")
    told = cell["telemetry"] or {}
    words += [f"{told[name] * scale:.4g} {unit}" for name, scale, unit in FIGURES if told.get(name) is not None]
    return "".join(f"  {word}" for word in words)


def expectations() -> dict[str, set[tuple[str, str | None]]]:
    """Return what may come of the generated kernels on a device: a status, and the kind of the reason.

    What does not compile for such a chip fails alike on it, and what computes wrongly in an interpreter does so too; at
    full size another of its faults may show first. What only an interpreter cannot do is no fault there.
    """
    from tests.examples.test_generated import EXPECTED, reasons

    wanted: dict[str, set[tuple[str, str | None]]] = {}
    for kernel, by_platform in EXPECTED.items():
        compiled, emulated = by_platform["h100"], by_platform["cpu"]
        given: dict[str, Any] = compiled if compiled["status"] == "fail" else emulated
        only_there = given is emulated and Reason.UNSUPPORTED_FEATURE in reasons(given)
        failing = given["status"] == "fail" and not only_there
        wanted[kernel] = {("fail", reason.group.value) for reason in reasons(given)} if failing else {("pass", None)}
    return wanted


def cheats(platform: str, given: argparse.Namespace) -> bool:
    """Judge the corpus of cheats."""
    return succeeds(sys.executable, str(ROOT / "tools" / "cheats.py"), "--platform", platform)


def overhead(platform: str, given: argparse.Namespace) -> bool:
    """Print what judging costs."""
    command = [sys.executable, str(ROOT / "benchmarks" / "judge_overhead.py"), "--platform", platform]
    return succeeds(*command, "--cells", "10", "--again", "40")


def tasks(platform: str, given: argparse.Namespace) -> bool:
    """Hold the tasks' checkers against wrong answers."""
    return succeeds(*CLI, "tasks", "verify", "--platform", platform, *given.tasks)


def accepted(platform: str, given: argparse.Namespace) -> bool:
    """Judge the shipped kernels with one seed after the other."""
    more = ["--kernels", "--seeds", str(given.seeds), "--jobs", str(given.per_device)]
    return succeeds(*CLI, "tasks", "verify", "--platform", platform, *more, *given.tasks)


def power(platform: str, given: argparse.Namespace) -> bool:
    """Print what is claimed of kernels whose ratio is known."""
    more = ["--platform", platform, "--pairs", "200", "--slowdown", "1.03"]
    return succeeds(sys.executable, "-m", "benchmarks.timing_power", *more)


def agreement(platform: str, given: argparse.Namespace) -> bool:
    """Print times beside a profiler's."""
    return succeeds(sys.executable, "-m", "benchmarks.profiler_agreement", "--platform", platform)


def succeeds(*command: str) -> bool:
    """Run a command, whose output is seen, and return whether it ends well."""
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


PARTS: dict[str, Callable[[str, argparse.Namespace], bool]] = {
    "tests": tests,
    "kernels": kernels,
    "cheats": cheats,
    "overhead": overhead,
    "tasks": tasks,
    "accepted": accepted,
    "power": power,
    "agreement": agreement,
}


def surroundings() -> str:
    """Describe device, torch and Triton; asked of another process, so that this one touches no device."""
    script = (
        "import torch\n"
        "name = torch.cuda.get_device_name(0) if torch.cuda.is_available() else 'no GPU'\n"
        "try:\n    import triton; version = triton.__version__\n"
        "except ImportError:\n    version = 'none'\n"
        "print(f'{name}; torch {torch.__version__}; triton {version}')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return done.stdout.strip() or (done.stderr.strip().splitlines() or ["torch cannot be imported"])[-1]


if __name__ == "__main__":
    sys.exit(main())
