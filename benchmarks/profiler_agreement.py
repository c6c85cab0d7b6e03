"""Our times beside those of profilers: kernels from 5 µs to 3 ms, caches flushed before each run.

    python -m benchmarks.profiler_agreement --platform h200 [--kernels 12] [--json]

Ours are medians of runs as a sweep times them, from mark to mark, less the marks' own overhead. The others are what
torch's profiler tells of each launch, in a process of its own that pauses, flushes and calls in the same way, and what
``ncu`` tells of the same process, where it is installed. The goal is 3 % above 10 µs.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from benchmarks.known_kernels import ELEMENTWISE, KNOWN, LOOP, spread
from benchmarks.profiled import Request
from benchmarks.rig import Rig, opened, platform_named

SHORTEST, LONGEST = 5e-6, 3e-3
GOAL, ABOVE = 0.03, 10e-6
_WARM_UPS = 10
_RUNS = 100
_RUNS_WATCHED = 20
"""Under a profiler from outside, which takes tens of milliseconds for each."""
_DEADLINE = 300.0
_NCU = (
    "ncu", "--clock-control", "none", "--cache-control", "none", "--metrics", "gpu__time_duration.sum",
    "--kernel-name-base", "function", "--csv", "--print-units", "base",
)  # fmt: skip
_UNITS = {
    "nsecond": 1e-9,
    "ns": 1e-9,
    "usecond": 1e-6,
    "us": 1e-6,
    "msecond": 1e-3,
    "ms": 1e-3,
    "second": 1.0,
    "s": 1.0,
}
"""As releases of ncu spell them, in seconds."""


class ProfilerFailed(Exception):
    """A profiler that tells nothing of what it should have seen."""


@dataclass(frozen=True)
class Agreement:
    """One kernel's time, told by several. Seconds; None where that profiler is not here."""

    kernel: str
    work: int
    ours: float
    profiler: float | None
    ncu: float | None

    @property
    def off(self) -> dict[str, float]:
        """By how much ours is longer, as a share, by profiler."""
        others = {"profiler": self.profiler, "ncu": self.ncu}
        return {name: self.ours / seconds - 1 for name, seconds in others.items() if seconds is not None}


def agreements(rig: Rig, shortest: float, longest: float, count: int) -> tuple[list[Agreement], list[str]]:
    """Time kernels of so many durations by all that can tell.

    Returns
    -------
    list of Agreement
        Of each known kernel, as far as its durations go.
    list of str
        Why a profiler told nothing.
    """
    kernels: list[tuple[str, int]] = []
    for known in (ELEMENTWISE, LOOP):
        curve = rig.curve(known, longest)
        durations = spread(shortest, min(longest, curve.seconds[-1]), count)
        kernels += [(known.name, work) for work in dict.fromkeys(map(curve.work_for, durations))]
    notes: list[str] = []
    told: dict[str, list[float]] = {}
    for name, ask, runs in (("profiler", profiled, _RUNS), ("ncu", watched, _RUNS_WATCHED)):
        try:
            told[name] = medians(ask(request(rig, kernels, runs)), len(kernels), _WARM_UPS + runs)
        except (ProfilerFailed, OSError, subprocess.SubprocessError) as error:
            notes.append(f"{name}: {error}")
    ours = list(timed(rig, kernels))
    columns = {name: told.get(name, [None] * len(kernels)) for name in ("profiler", "ncu")}
    rows = zip(kernels, ours, columns["profiler"], columns["ncu"], strict=True)
    return [Agreement(kernel, work, mine, cupti, ncu) for (kernel, work), mine, cupti, ncu in rows], notes


def timed(rig: Rig, kernels: Iterable[tuple[str, int]]) -> Iterator[float]:
    """Yield our times, s."""
    for name, group in groupby(kernels, key=itemgetter(0)):
        with rig.process(KNOWN[name]) as process:
            for _, work in group:
                yield rig.seconds(KNOWN[name], process, KNOWN[name].shape(work), _RUNS)


def request(rig: Rig, kernels: Sequence[tuple[str, int]], runs: int) -> Request:
    """Return what a profiled process is asked for."""
    device = rig.bench.venue.prepare["device"]
    return Request(
        platform=rig.bench.platform,
        environment=device["environment"],
        language=rig.language,
        flush=device["flush"],
        runs=_WARM_UPS + runs,
        kernels=tuple(kernels),
    )


def profiled(asked: Request) -> list[float]:
    """Return what torch's profiler tells of each launch, s."""
    with tempfile.TemporaryDirectory() as folder:
        return [float(seconds) for seconds in json.loads(_run(asked, Path(folder), ()))]


def watched(asked: Request) -> list[float]:
    """Return what ncu tells of each launch, s.

    Raises
    ------
    ProfilerFailed
        If it is not here, or may not look (counters can be reserved for the administrator).
    """
    if shutil.which(_NCU[0]) is None:
        raise ProfilerFailed("it is not on PATH")
    names = "|".join(known.function for known in KNOWN.values())
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "ncu.csv")
        _run(asked, Path(folder), (*_NCU, "--kernel-name", f"regex:^({names})$", "--log-file", str(log)))
        return launches(log.read_text(encoding="utf-8"))


def launches(log: str) -> list[float]:
    """Return the durations in what ncu wrote, s: a table, after lines of its own that start with ``==``.

    Raises
    ------
    ProfilerFailed
        If there are none.
    """
    lines = log.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        said = next((line for line in lines if "ERROR" in line), "no launch")
        raise ProfilerFailed(f"it tells of {said.removeprefix('==ERROR== ')}")
    rows = csv.DictReader(line for line in lines[start:] if line.startswith('"'))
    return [float(row["Metric Value"].replace(",", "")) * _UNITS[row["Metric Unit"]] for row in rows]


def medians(seconds: Sequence[float], kernels: int, runs: int) -> list[float]:
    """Return the median for each kernel, without the first runs that only warm it up.

    Raises
    ------
    ProfilerFailed
        If another number of launches was seen than there were.
    """
    if len(seconds) != kernels * runs:
        raise ProfilerFailed(f"{len(seconds)} launches were seen of {kernels * runs}")
    groups = (seconds[first : first + runs] for first in range(0, len(seconds), runs))
    return [statistics.median(group[_WARM_UPS:]) for group in groups]


def _run(asked: Request, folder: Path, under: Sequence[str]) -> str:
    path = folder / "request.json"
    path.write_text(asked.model_dump_json(), encoding="utf-8")
    command = [*under, sys.executable, "-m", "benchmarks.profiled", str(path), *(["--watched"] if under else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise ProfilerFailed(f"the process ended with {done.returncode}: {' '.join(said)}")
    return done.stdout


def _cells(row: Agreement, name: str) -> str:
    seconds = getattr(row, name)
    return f"{'':>12}{'':>9}" if seconds is None else f"{seconds * 1e6:12.2f}{row.off[name]:+9.2%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platform", required=True)
    parser.add_argument("--kernels", type=int, default=12, help="durations of each of the two kernels")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with opened(platform_named(options.platform, parser), parser) as rig:
        rows, notes = agreements(rig, SHORTEST, LONGEST, options.kernels)
    if options.json:
        json.dump({"kernels": [vars(row) for row in rows], "notes": notes}, sys.stdout, indent=1)
        return
    print(f"{'µs':12}{'ours':>12}{'profiler':>12}{'':>9}{'ncu':>12}{'':>9}")
    for row in rows:
        print(f"{row.kernel:12}{row.ours * 1e6:12.2f}{_cells(row, 'profiler')}{_cells(row, 'ncu')}")
    for note in notes:
        print(note)
    for name in ("profiler", "ncu"):
        found = [abs(row.off[name]) for row in rows if row.ours > ABOVE and name in row.off]
        if found:
            within = sum(share <= GOAL for share in found)
            print(
                f"{name}: above {ABOVE * 1e6:.0f} µs {within} of {len(found)} within {GOAL:.0%}, worst {max(found):.2%}"
            )


if __name__ == "__main__":
    main()
