"""Chips at their worst, as models: sources of times whose true ratio is known, that need no device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from kernelarena.protocol.timing import Arm, Order, Round, Timing, TimingProtocol, measure

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
