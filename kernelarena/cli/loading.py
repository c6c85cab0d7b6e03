"""Reading a run's results whole, as reports and comparisons need them."""

from __future__ import annotations

import gc
from pathlib import Path

from kernelarena.spec import RunData
from kernelarena.store import Run


def load(path: Path) -> RunData:
    """Return everything that a report is made from.

    All of it stays until the process ends, and none of it refers back to itself: a garbage collector that looks through
    a million records again and again, as it does while they are made, takes four times as long as reading them. It is
    off meanwhile, and leaves them alone afterwards.

    Raises
    ------
    InputError
        If it is no run, or a damaged one.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with Run.open(path) as run:
            data = run.data(condense=True)
        gc.freeze()
    finally:
        if collecting:
            gc.enable()
    return data
