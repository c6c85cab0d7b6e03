"""Cells to hand out."""

import functools

from kernelarena.cluster.cell import Cell
from kernelarena.platforms import catalogue
from kernelarena.platforms.backend import Availability
from kernelarena.spec import Evidence, Kernel, Language
from kernelarena.spec.catalogue import load_tasks
from tests.cluster import fakes

COMPILED = Availability((Evidence.COMPILED,), "no device")
EMULATED = Availability((Evidence.EMULATED,), "an interpreter")
NOTHING = Availability((), "nothing is installed")
AVAILABLE = {"mi300": COMPILED, "h100": COMPILED, "cpu": EMULATED}


@functools.cache
def platform(name):
    return catalogue.load()[name]


@functools.cache
def task():
    return load_tasks()["softmax"]


def kernel(name, action="pass", home=None):
    return Kernel(
        id=name,
        task="softmax",
        language=Language.TRITON,
        file="kernel.py",
        function="softmax",
        home=home,
        files={"kernel.py": fakes.source(action)},
        origin=name,
    )


def cells(actions, platforms=("mi300", "h100")):
    """Return a cell for each platform and each kernel, given as its id and what it does."""
    kernels = [kernel(name, action) for name, action in actions.items()]
    return [Cell(each, task(), platform(name)) for each in kernels for name in platforms]
