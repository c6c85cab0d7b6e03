"""Whether a kernel may be called faster."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.protocol.timing.floor import NoiseFloor
from kernelarena.protocol.timing.measure import Timing
from kernelarena.spec.base import StrEnum


class Difference(StrEnum):
    """What may be said of a kernel beside its baseline."""

    FASTER = "faster"
    SLOWER = "slower"
    NONE = "none"
    """No difference that could be told from noise."""
    UNKNOWN = "unknown"
    """Too few samples to say anything."""


@dataclass(frozen=True)
class Claim:
    """What may be said, and why no more."""

    difference: Difference
    floor: float
    """The noise floor that was applied: 0.008 reads ±0.8 %."""
    detail: str
    """In one line, for a reader."""


def claim(timing: Timing, floor: NoiseFloor) -> Claim:
    """Return what may be said: a difference only if the whole interval of the speedup lies outside the noise floor."""
    ratio = timing.speedup
    if ratio is None or timing.kernel is None:
        return Claim(Difference.UNKNOWN, 0.0, timing.problem)
    noise = floor.at(timing.kernel.median.value)
    text = f"{ratio.value:.3f}× ({ratio.low:.3f} to {ratio.high:.3f}, {ratio.confidence:.0%} confidence)"
    if ratio.low > 1 + noise:
        return Claim(Difference.FASTER, noise, f"{text}, beyond a noise floor of ±{noise:.2%}")
    if ratio.high < 1 / (1 + noise):
        return Claim(Difference.SLOWER, noise, f"{text}, beyond a noise floor of ±{noise:.2%}")
    return Claim(Difference.NONE, noise, f"{text}: no difference from a noise floor of ±{noise:.2%}")
