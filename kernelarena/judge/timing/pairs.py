"""Two processes that are both trusted, timed beside each other: what a device makes of kernels whose ratio is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random

from kernelarena.judge.inspection import Inspector
from kernelarena.judge.memory import Exchange
from kernelarena.judge.problems import Problem
from kernelarena.judge.timing.arm import TimedArm
from kernelarena.judge.timing.gate import quickest
from kernelarena.judge.timing.marks import Marks
from kernelarena.judge.timing.source import DeviceSource, Watch
from kernelarena.protocol.timing import Arm, Timing, TimingProtocol, calls_per_sample, measure


@dataclass(frozen=True)
class Member:
    """One of a pair.

    Attributes
    ----------
    inspector
        Of its process, which has loaded its kernel.
    problems
        At least two, of one shape; with the same for both members, and the same kernel, the pair is an A/A pair.
    """

    inspector: Inspector
    problems: Sequence[Problem]


def time_pair(
    members: Mapping[Arm, Member],
    exchange: Exchange,
    marks: Marks,
    watch: Watch,
    protocol: TimingProtocol,
    rng: Random,
) -> Timing:
    """Time a pair, as kernels and baselines are.

    Parameters
    ----------
    members
        Both arms.
    exchange
        How tensors get to their processes and back.
    marks
        How good the device's marks are.
    watch
        Its telemetry.
    protocol
        How much, in which order, until when.
    rng
        Decides the order and the inputs.

    Raises
    ------
    BaselineFailed
        If a call failed, or one that was looked at is wrong.
    """
    with ExitStack() as until:
        arms = {
            arm: until.enter_context(TimedArm(member.inspector, member.problems, exchange, rng, marks, trusted=True))
            for arm, member in members.items()
        }
        calls = calls_per_sample(min(map(quickest, arms.values())), marks.step)
        return measure(DeviceSource(arms, calls, watch), protocol, rng)
