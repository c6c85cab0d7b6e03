"""What samples amount to over an interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kernelarena.platforms.telemetry.energy import Energy, energy
from kernelarena.platforms.telemetry.schema import Facts, Reading, Sample, Throttle


@dataclass(frozen=True)
class Span:
    """Least, mean and greatest of what was read."""

    least: float
    mean: float
    most: float


@dataclass(frozen=True)
class Summary:
    """A device over an interval. None: not offered, or not read in it."""

    samples: int
    seconds: float
    """Length of the interval, s."""
    power_w: Span | None
    core_clock_mhz: Span | None
    memory_clock_mhz: Span | None
    temperature_c: Span | None
    memory_temperature_c: Span | None
    utilisation: Span | None
    memory_used_bytes: int | None
    """The most at any time, B."""
    energy: Energy | None
    throttled: dict[Throttle, float] | None
    """For each reason that occurred, the share of samples in which it did; empty: the device ran free."""
    ecc_corrected: int | None
    """Errors corrected within the interval."""
    ecc_uncorrected: int | None


def summarise(samples: Sequence[Sample], start_ns: int, end_ns: int, facts: Facts) -> Summary:
    """Return what ``samples`` say of the interval from ``start_ns`` to ``end_ns``.

    Samples outside the interval serve only to bound energy and error counts, which are differences: give some.

    Raises
    ------
    ValueError
        If the interval ends before it starts.
    """
    total = energy(samples, start_ns, end_ns, facts)
    inside = [sample.reading for sample in samples if start_ns <= sample.at_ns <= end_ns]
    used = [reading.memory_used_bytes for reading in inside if reading.memory_used_bytes is not None]
    return Summary(
        samples=len(inside),
        seconds=(end_ns - start_ns) * 1e-9,
        power_w=_span(inside, lambda reading: reading.power_w),
        core_clock_mhz=_span(inside, lambda reading: reading.core_clock_mhz),
        memory_clock_mhz=_span(inside, lambda reading: reading.memory_clock_mhz),
        temperature_c=_span(inside, lambda reading: reading.temperature_c),
        memory_temperature_c=_span(inside, lambda reading: reading.memory_temperature_c),
        utilisation=_span(inside, lambda reading: reading.utilisation),
        memory_used_bytes=max(used, default=None),
        energy=total,
        throttled=_shares(throttled(samples, start_ns, end_ns, facts)),
        ecc_corrected=_growth(samples, start_ns, end_ns, lambda reading: reading.ecc_corrected),
        ecc_uncorrected=_growth(samples, start_ns, end_ns, lambda reading: reading.ecc_uncorrected),
    )


def throttled(samples: Sequence[Sample], start_ns: int, end_ns: int, facts: Facts) -> list[tuple[Throttle, ...]] | None:
    """Return the throttle reasons of every sample that tells of the interval, or None where none does.

    A sample tells of the time since the one before it, and may do so late by :attr:`Facts.throttle_lag_s`: the samples
    after the interval up to that lag, and the first one beyond it, count too.
    """
    limit = end_ns + int(facts.throttle_lag_s * 1e9)
    found = []
    for sample in samples:
        if sample.at_ns < start_ns or sample.reading.throttle is None:
            continue
        found.append(sample.reading.throttle)
        if sample.at_ns >= limit:
            break
    return found or None


def _shares(found: list[tuple[Throttle, ...]] | None) -> dict[Throttle, float] | None:
    if found is None:
        return None
    counts = Counter(reason for reasons in found for reason in reasons)
    return {reason: counts[reason] / len(found) for reason in Throttle if reason in counts}


def _span(readings: Iterable[Reading], value: Callable[[Reading], float | None]) -> Span | None:
    found = [number for reading in readings if (number := value(reading)) is not None]
    return Span(min(found), sum(found) / len(found), max(found)) if found else None


def _growth(samples: Sequence[Sample], start: int, end: int, value: Callable[[Reading], int | None]) -> int | None:
    """Return how far a counter came from the last sample before the interval to the first one after it."""
    known = [(sample.at_ns, number) for sample in samples if (number := value(sample.reading)) is not None]
    before = [number for at, number in known if at <= start] or [number for _, number in known[:1]]
    after = [number for at, number in known if at >= end] or [number for _, number in known[-1:]]
    return max(0, after[0] - before[-1]) if before and after else None
