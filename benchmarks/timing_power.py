"""What the timing protocol makes of kernels whose true ratio is known: false claims, and differences found.

    python -m benchmarks.timing_power [--pairs 200] [--slowdown 1.03] [--model heavy-tailed] [--json]
    python -m benchmarks.timing_power --platform h200 [--pairs 200] [--slowdown 1.03] [--json]

A/A pairs are identical kernels: whatever is claimed of them is false. A/B pairs differ by the slowdown: whatever is not
claimed of them is missed. Durations are spread from 3 µs to 3 ms. Times come from models of chips at their worst, so
that it runs anywhere, or, with ``--platform``, from a device: pairs of processes that run kernels of known ratio, timed
as kernels and baselines of a sweep are. The noise floor is taken as in a run, from A/A pairs of a few durations. A/A
pairs alone: ``--slowdown 1``.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.simulated_chip import MODELS, one
from kernelarena.protocol.timing import DEFAULT, Difference, NoiseFloor, Timing, TimingProtocol, claim

SHORTEST, LONGEST = 3e-6, 3e-3
FLOOR_DURATIONS = (3e-6, 3e-5, 3e-4, 3e-3)


@dataclass(frozen=True)
class Outcome:
    """What was claimed of many pairs."""

    of: str
    """The model, or the kernel that ran on a device."""
    slowdown: float
    """True time of the kernel over that of its baseline; the mean where work comes in steps."""
    pairs: int
    faster: int
    slower: int
    unknown: int
    """Pairs with too few samples to say anything."""
    samples: float
    """Mean per arm."""
    seconds: float
    """Mean, s, on the device or the modelled chip."""
    floor: float
    """Noise floor in the middle of the range of durations."""


def counted(of: str, slowdown: float, timings: Sequence[Timing], floor: NoiseFloor) -> Outcome:
    """Count what is claimed of some timings."""
    found = [claim(timing, floor).difference for timing in timings]
    return Outcome(
        of=of,
        slowdown=slowdown,
        pairs=len(timings),
        faster=found.count(Difference.FASTER),
        slower=found.count(Difference.SLOWER),
        unknown=found.count(Difference.UNKNOWN),
        samples=statistics.fmean(timing.kept for timing in timings),
        seconds=statistics.fmean(timing.seconds for timing in timings),
        floor=floor.at(math.sqrt(SHORTEST * LONGEST)),
    )


def outcome(name: str, slowdown: float, pairs: int, seed: int = 0, protocol: TimingProtocol = DEFAULT) -> Outcome:
    """Time ``pairs`` pairs on the model ``name`` and count the claims."""
    model = MODELS[name]
    floor = NoiseFloor.measured(
        one(model, duration, 1.0, 1_000_000 * (seed + 1) + index, protocol)
        for index, duration in enumerate(FLOOR_DURATIONS)
    )
    durations = np.geomspace(SHORTEST, LONGEST, pairs)
    timings = [
        one(model, float(duration), slowdown, 1_000_000 * (seed + 1) + 1000 + index, protocol)
        for index, duration in enumerate(durations)
    ]
    return counted(name, slowdown, timings, floor)


def simulated(options: argparse.Namespace, slowdowns: Sequence[float]) -> Iterator[Outcome]:
    """Yield what is claimed on models."""
    for name in options.model or MODELS:
        for slowdown in slowdowns:
            yield outcome(name, slowdown, options.pairs, options.seed)


def measured(
    options: argparse.Namespace, slowdowns: Sequence[float], parser: argparse.ArgumentParser
) -> Iterator[Outcome]:
    """Yield what is claimed on a device."""
    from benchmarks.device_pairs import Pairs  # models need no torch
    from benchmarks.rig import opened, platform_named

    with opened(platform_named(options.platform, parser), parser, options.seed) as rig:
        pairs = Pairs(rig, SHORTEST, LONGEST, max(slowdowns))
        floor = rig.floor()
        for slowdown in slowdowns:
            for name, count in pairs.kernels(slowdown, options.pairs).items():
                timings, truth = pairs.timed(name, slowdown, count)
                yield counted(name, truth, timings, floor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--slowdown", type=float, action="append", default=[], help="besides none (1.03 and 1.10)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--model", choices=MODELS, action="append", default=[])
    where.add_argument("--platform", help="time on a device of this platform")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error(f"--pairs {options.pairs}: at least one")
    if any(slowdown < 1 for slowdown in options.slowdown):
        parser.error("--slowdown: at least 1")
    slowdowns = sorted({1.0, *(options.slowdown or [1.03, 1.10])})
    rows = measured(options, slowdowns, parser) if options.platform else simulated(options, slowdowns)
    if options.json:
        json.dump([vars(row) for row in rows], sys.stdout, indent=1)
        return
    for number, row in enumerate(rows):
        if number == 0:
            print(
                f"{'':14}{'slowdown':>9}{'pairs':>7}{'faster':>8}{'slower':>8}{'none':>6}{'unknown':>9}"
                f"{'samples':>9}{'seconds':>9}{'floor':>8}"
            )
        none = row.pairs - row.faster - row.slower - row.unknown
        print(
            f"{row.of:14}{row.slowdown:9.4f}{row.pairs:7}{row.faster:8}{row.slower:8}{none:6}{row.unknown:9}"
            f"{row.samples:9.0f}{row.seconds:9.2f}{row.floor:8.2%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
