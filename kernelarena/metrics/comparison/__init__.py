"""What differs between two runs, and what of it is a regression."""

from kernelarena.metrics.comparison._compare import Comparison, compare
from kernelarena.metrics.comparison._conditions import CONDITIONS, Breach, Condition, breaches, parse
from kernelarena.metrics.comparison._environment import Difference
from kernelarena.metrics.comparison._outcomes import Change, Outcome
from kernelarena.metrics.comparison._resources import RESOURCES, ResourceChange
from kernelarena.metrics.comparison._times import CONFIDENCE, RATE, Pace, TimeChange, decide, time_changes

__all__ = [
    "CONDITIONS",
    "CONFIDENCE",
    "RATE",
    "RESOURCES",
    "Breach",
    "Change",
    "Comparison",
    "Condition",
    "Difference",
    "Outcome",
    "Pace",
    "ResourceChange",
    "TimeChange",
    "breaches",
    "compare",
    "decide",
    "parse",
    "time_changes",
]
