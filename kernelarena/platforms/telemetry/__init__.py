"""What a device draws, how fast it runs and how hot it is while kernels are timed on it, whoever made it.

`Sampler` watches a device from a process of its own and hands back `Sample`s in one schema; `energy` and `summarise`
say what they amount to over an interval. What a device does not offer is None, and why is in `Facts.missing`.
"""

from kernelarena.platforms.telemetry.condition import Condition, Occupant
from kernelarena.platforms.telemetry.energy import Energy, Method, energy
from kernelarena.platforms.telemetry.errors import DeviceVanished, TelemetryUnavailable
from kernelarena.platforms.telemetry.probe import Probe
from kernelarena.platforms.telemetry.sampler import Sampler
from kernelarena.platforms.telemetry.schema import Facts, Reading, Sample, Throttle
from kernelarena.platforms.telemetry.summary import Span, Summary, summarise, throttled

__all__ = [
    "Condition",
    "DeviceVanished",
    "Energy",
    "Facts",
    "Method",
    "Occupant",
    "Probe",
    "Reading",
    "Sample",
    "Sampler",
    "Span",
    "Summary",
    "TelemetryUnavailable",
    "Throttle",
    "energy",
    "summarise",
    "throttled",
]
