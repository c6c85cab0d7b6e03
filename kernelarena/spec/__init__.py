"""Typed, frozen, validated models of everything that the harness reads and writes. Imports nothing of the rest."""

from kernelarena.spec.kernel import Kernel, KernelFile, Language, Provenance
from kernelarena.spec.platform import Platform
from kernelarena.spec.run import Environment, Manifest, RunData
from kernelarena.spec.shape import Shape
from kernelarena.spec.sweep import Baseline, Deadlines, Hidden, Sweep
from kernelarena.spec.task import Kind, Task, TaskSource
from kernelarena.spec.verdict import (
    Durations,
    Efficiency,
    FamilyTally,
    Launch,
    Location,
    Resources,
    Speedup,
    Tally,
    Telemetry,
    TimedShape,
    Trial,
    Verdict,
)
from kernelarena.spec.vocabulary import (
    HIDDEN_FAMILIES,
    Distribution,
    Evidence,
    Family,
    Gate,
    Layout,
    Reason,
    ReasonGroup,
    Status,
)

__all__ = [
    "HIDDEN_FAMILIES",
    "Baseline",
    "Deadlines",
    "Distribution",
    "Durations",
    "Efficiency",
    "Environment",
    "Evidence",
    "Family",
    "FamilyTally",
    "Gate",
    "Hidden",
    "Kernel",
    "KernelFile",
    "Kind",
    "Language",
    "Launch",
    "Layout",
    "Location",
    "Manifest",
    "Platform",
    "Provenance",
    "Reason",
    "ReasonGroup",
    "Resources",
    "RunData",
    "Shape",
    "Speedup",
    "Status",
    "Sweep",
    "Tally",
    "Task",
    "TaskSource",
    "Telemetry",
    "TimedShape",
    "Trial",
    "Verdict",
]
