"""What the timing protocol makes of kernels whose true ratio is known: false claims, and differences found.

    python benchmarks/timing_power.py [--pairs 200] [--slowdown 1.03] [--model heavy-tailed] [--json]

A/A pairs are identical kernels: whatever is claimed of them is false. A/B pairs differ by the slowdown: whatever is not
claimed of them is missed. Times come from models of chips at their worst, so that it runs anywhere; durations are
spread from 3 µs to 3 ms. The noise floor is taken as in a run, from A/A pairs of a few durations on the same model.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from kernelarena.protocol.timing import (
    DEFAULT,
    Arm,
    Difference,
    NoiseFloor,
    Order,
    Round,
    Timing,
    TimingProtocol,
    claim,
    measure,
)

SHORTEST, LONGEST = 3e-6, 3e-3
FLOOR_DURATIONS = (3e-6, 3e-5, 3e-4, 3e-3)
GAP = 30e-6
"""Seconds between two runs, in which caches are flushed and inputs rotated."""
Speeds = Callable[[np.random.Generator, float, np.ndarray], np.ndarray]


def quiet(rng: np.random.Generator, duration: float, at: np.ndarray) -> np.ndarray:
    """Half a per cent of normal noise: a chip with fixed clocks."""
    return 1 + 0.005 * rng.standard_normal(len(at))


def heavy_tailed(rng: np.random.Generator, duration: float, at: np.ndarray) -> np.ndarray:
    """One and a half per cent of noise, and in one run of 25 an interruption without a finite variance."""
    noise = np.exp(0.015 * rng.standard_normal(len(at)))
    return noise * np.where(rng.random(len(at)) < 0.04, 1 + 0.1 * rng.pareto(1.5, len(at)), 1)


def drifting(rng: np.random.Generator, duration: float, at: np.ndarray) -> np.ndarray:
    """Heat up by 8 % within the measurement, and breathe by 2 % besides."""
    span = 200 * (duration + GAP)
    heat = 0.08 * (1 - np.exp(-at / span))
    breath = 0.02 * np.sin(2 * np.pi * at / (0.37 * span))
    return (1 + heat + breath) * np.exp(0.006 * rng.standard_normal(len(at)))


def bimodal(rng: np.random.Generator, duration: float, at: np.ndarray) -> np.ndarray:
    """Two clocks 8 % apart, between which the chip changes every 30 runs or so."""
    slow = (np.cumsum(rng.random(len(at)) < 1 / 30) + rng.integers(2)) % 2
    return np.where(slow, 1.08, 1.0) * np.exp(0.006 * rng.standard_normal(len(at)))


def flickering(rng: np.random.Generator, duration: float, at: np.ndarray) -> np.ndarray:
    """Two clocks 5 % apart, one or the other in each run."""
    return np.where(rng.random(len(at)) < 0.5, 1.05, 1.0) * np.exp(0.006 * rng.standard_normal(len(at)))


def jittery(rng: np.random.Generator, duration: float, at: np.ndarray) -> np.ndarray:
    """Add some tenths of a microsecond for the launch: much for 3 µs, nothing for 3 ms."""
    return 1 + rng.exponential(0.12e-6, len(at)) / duration + 0.004 * rng.standard_normal(len(at))


@dataclass(frozen=True)
class Model:
    """A chip at its worst."""

    speeds: Speeds
    placement: float = 0.0
    """Standard deviation of what the place of code and data does to each arm, the same in every run of a pair."""


MODELS = {
    "quiet": Model(quiet),
    "heavy-tailed": Model(heavy_tailed),
    "drifting": Model(drifting),
    "bimodal": Model(bimodal),
    "flickering": Model(flickering),
    "jittery": Model(jittery),
    "placed": Model(quiet, placement=0.003),
}


class SimulatedChip:
    """A source of times: a kernel that runs ``slowdown`` times as long as its baseline, on a chip of some model.

    Parameters
    ----------
    model
        How its speed varies.
    duration
        Of the baseline, s.
    slowdown
        True time of the kernel over that of the baseline.
    seed
        Of all that is random.
    tick
        Step of the timer, s. Timers of today's chips step by 10 to 32 ns.
    """

    def __init__(self, model: Model, duration: float, slowdown: float, seed: int, tick: float = 32e-9) -> None:
        self.now = 0.0
        self._speeds = model.speeds
        self._rng = np.random.default_rng(seed)
        places = 1 + model.placement * self._rng.standard_normal(2)
        self._length = {Arm.BASELINE: duration * places[0], Arm.KERNEL: duration * slowdown * places[1]}
        self._tick = tick

    def warm_up(self, orders: Sequence[Order]) -> None:
        """Let time pass."""
        self.time(orders)

    def time(self, orders: Sequence[Order]) -> list[Round]:
        """Return what the timer shows, to its step."""
        ideal = np.array([self._length[arm] for order in orders for arm in order])
        starts = self.now + np.cumsum(ideal + GAP)
        true = ideal * self._speeds(self._rng, self._length[Arm.BASELINE], starts)
        self.now = float(starts[-1])
        phase = self._rng.random(len(true)) * self._tick  # a run starts anywhere between two steps
        shown = np.maximum(np.floor((true + phase) / self._tick), 1) * self._tick
        seconds = iter(shown.tolist())
        return [Round(order, tuple(next(seconds) for _ in order)) for order in orders]


def one(model: Model, duration: float, slowdown: float, seed: int, protocol: TimingProtocol) -> Timing:
    """Time one pair."""
    chip = SimulatedChip(model, duration, slowdown, seed)
    return measure(chip, protocol, Random(seed), clock=lambda: chip.now)


@dataclass(frozen=True)
class Outcome:
    """What was claimed of many pairs of one model."""

    model: str
    slowdown: float
    pairs: int
    faster: int
    slower: int
    samples: float
    """Mean per arm."""
    seconds: float
    """Mean, s, on the modelled chip."""
    floor: float
    """Noise floor in the middle of the range of durations."""


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
    found = [claim(timing, floor).difference for timing in timings]
    return Outcome(
        model=name,
        slowdown=slowdown,
        pairs=pairs,
        faster=found.count(Difference.FASTER),
        slower=found.count(Difference.SLOWER),
        samples=sum(timing.kept for timing in timings) / pairs,
        seconds=sum(timing.seconds for timing in timings) / pairs,
        floor=floor.at(math.sqrt(SHORTEST * LONGEST)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--slowdown", type=float, action="append", default=[])
    parser.add_argument("--model", choices=MODELS, action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    slowdowns = [1.0, *(arguments.slowdown or [1.03, 1.10])]
    rows = [
        outcome(name, slowdown, arguments.pairs, arguments.seed)
        for name in arguments.model or MODELS
        for slowdown in slowdowns
    ]
    if arguments.json:
        json.dump([vars(row) for row in rows], sys.stdout, indent=1)
        return
    print(f"{'model':14}{'slowdown':>9}{'pairs':>7}{'faster':>8}{'slower':>8}{'samples':>9}{'seconds':>9}{'floor':>8}")
    for row in rows:
        print(
            f"{row.model:14}{row.slowdown:9.2f}{row.pairs:7}{row.faster:8}{row.slower:8}{row.samples:9.0f}"
            f"{row.seconds:9.2f}{row.floor:8.2%}"
        )


if __name__ == "__main__":
    main()
