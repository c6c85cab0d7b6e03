"""Timing that can be believed, as pure functions: no device, no process; times come from a :class:`Source`.

One idea a file: what is run in which order (`rounds`), when there is enough of it (`stopping`), what it says
(`estimate`, `ratio`), what the chip itself makes of identical kernels (`floor`), what may be said of a difference
(`claim`), what no kernel can undercut (`physics`), how long a sample must be (`resolution`), and the loop (`measure`).
"""

from kernelarena.protocol.timing.claim import Claim, Difference, claim
from kernelarena.protocol.timing.estimate import Estimate, median
from kernelarena.protocol.timing.floor import NoiseFloor, Pair
from kernelarena.protocol.timing.measure import ArmTiming, Source, Timing, measure
from kernelarena.protocol.timing.physics import Bound, Limit, Work, impossible, least_time
from kernelarena.protocol.timing.preset import AGENT_KERNEL_ARENA, DEFAULT, PRESETS, TimingProtocol, timing_protocol
from kernelarena.protocol.timing.ratio import shift, speedup
from kernelarena.protocol.timing.resolution import calls_per_sample
from kernelarena.protocol.timing.rounds import Arm, Order, Round
from kernelarena.protocol.timing.stopping import (
    RULES,
    FixedCount,
    Precision,
    Progress,
    Stop,
    StoppingRule,
    stopping_rule,
)

__all__ = [
    "AGENT_KERNEL_ARENA",
    "DEFAULT",
    "PRESETS",
    "RULES",
    "Arm",
    "ArmTiming",
    "Bound",
    "Claim",
    "Difference",
    "Estimate",
    "FixedCount",
    "Limit",
    "NoiseFloor",
    "Order",
    "Pair",
    "Precision",
    "Progress",
    "Round",
    "Source",
    "Stop",
    "StoppingRule",
    "Timing",
    "TimingProtocol",
    "Work",
    "calls_per_sample",
    "claim",
    "impossible",
    "least_time",
    "measure",
    "median",
    "shift",
    "speedup",
    "stopping_rule",
    "timing_protocol",
]
