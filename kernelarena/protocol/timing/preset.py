"""Timing protocols by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelarena.errors import InputError, nearest
from kernelarena.protocol.timing.estimate import median_rank
from kernelarena.protocol.timing.ratio import signed_rank
from kernelarena.protocol.timing.rounds import RUNS_PER_ROUND
from kernelarena.protocol.timing.stopping import FixedCount, Precision, StoppingRule


@dataclass(frozen=True)
class TimingProtocol:
    """How a kernel is timed beside its baseline."""

    name: str
    rule: StoppingRule
    warm_ups: int = 10
    """Runs of each arm before any counts."""
    interleaved: bool = True
    """Both arms in every round; otherwise the one after the other, which leaves what the chip did in between in the
    ratio."""
    confidence: float = 0.99
    """Of every interval."""
    drop_throttled: bool = True
    """Whether what was taken while the chip throttled is thrown away, and taken again."""
    tolerated: frozenset[str] = frozenset()
    """Reasons for throttling that do not disqualify a sample."""

    def disqualifies(self, reasons: Iterable[str]) -> bool:
        """Return whether a sample taken under these reasons for throttling is thrown away."""
        return self.drop_throttled and not self.tolerated.issuperset(reasons)

    def __post_init__(self) -> None:
        if self.warm_ups < 0:
            raise ValueError(f"{self.warm_ups} warm-ups cannot be")
        if not 0 < self.confidence < 1:
            raise ValueError(f"a confidence is between 0 and 1, not {self.confidence}")
        fewest = self.rule.fewest
        observed = -(-fewest // RUNS_PER_ROUND) if self.interleaved else fewest
        enough = signed_rank(observed, self.confidence) if self.interleaved else observed
        if not (enough and median_rank(observed, 1 - (1 - self.confidence) / 2)):
            raise ValueError(f"{fewest} samples give no interval with {self.confidence:.2%} confidence: take more")


DEFAULT = TimingProtocol("kernelarena", Precision())
"""10 warm-ups and at least 100 samples of each arm, then until both medians are within 1 % and their ratio within
0.5 %."""
AGENT_KERNEL_ARENA = TimingProtocol(
    "agentkernelarena",
    FixedCount(100),
    interleaved=False,
    drop_throttled=False,
)
"""10 warm-ups and 100 runs of the one, then of the other, no sample dropped: so that figures can be set beside those of
that suite (Younesian et al., AgentKernelArena, arXiv:2605.16819)."""
PRESETS = {protocol.name: protocol for protocol in (DEFAULT, AGENT_KERNEL_ARENA)}


def timing_protocol(name: str) -> TimingProtocol:
    """Return the protocol of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    if name not in PRESETS:
        raise InputError(f"no timing protocol '{name}'; {nearest(name, PRESETS)}")
    return PRESETS[name]
