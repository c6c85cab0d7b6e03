"""Samples around an interval, however busy the machine that runs the tests is."""

from __future__ import annotations

import time

from kernelarena.platforms.telemetry import Sampler

PATIENCE = 20.0


def watch(source, seconds=0.1, *, pci="", uuid=""):
    """Return the sampler, its samples, and an interval that they surround by some readings and changes of a counter."""
    with Sampler.start(source, pci=pci, uuid=uuid) as sampler:
        start = time.monotonic_ns()
        time.sleep(seconds)
        end = time.monotonic_ns()
        samples, deadline = sampler.take(), time.monotonic() + PATIENCE
        while not sampler.lost and not _surrounded(samples, end) and time.monotonic() < deadline:
            time.sleep(0.02)
            samples += sampler.take()
        return sampler, samples, (start, end)


def until_lost(sampler):
    """Return all samples until there are no more."""
    samples, deadline = [], time.monotonic() + PATIENCE
    while not sampler.lost and time.monotonic() < deadline:
        samples += sampler.take()
        time.sleep(0.02)
    return samples


def _surrounded(samples, end):
    after = [sample.reading.energy_j for sample in samples if sample.at_ns > end]
    return len(after) > 3 and (after[-1] is None or len(set(after)) > 2)
