"""Runs the assembly text that compilers emit for GFX9 chips, on a host that has none.

``load`` reads the text, ``Memory`` says what a launch may touch, ``launch`` runs a kernel over a grid and raises a
``Fault`` at the first thing that is wrong. ``docs/emulation.md`` says what is modelled.
"""

from kernelarena.platforms.emulator.fault import Fault, FaultKind, Unsupported, Where
from kernelarena.platforms.emulator.launch import BUDGET, Tally, launch
from kernelarena.platforms.emulator.memory import Memory
from kernelarena.platforms.emulator.program import TARGETS, Kernel, Program, load

__all__ = [
    "BUDGET",
    "TARGETS",
    "Fault",
    "FaultKind",
    "Kernel",
    "Memory",
    "Program",
    "Tally",
    "Unsupported",
    "Where",
    "launch",
    "load",
]
