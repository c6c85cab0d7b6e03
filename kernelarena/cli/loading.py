"""Reading a run's results whole, as reports and comparisons need them."""

from __future__ import annotations

import gc
from pathlib import Path

from kernelarena.errors import InputError
from kernelarena.spec import RunData
from kernelarena.spec.places import Place, look
from kernelarena.store import Run
from kernelarena.store.run import RESULTS


def load(path: Path) -> RunData:
    """Return everything that a report is made from.

    All of it stays until the process ends, and none of it refers back to itself: a garbage collector that looks through
    a million records again and again, as it does while they are made, takes four times as long as reading them. It is
    off meanwhile, and leaves them alone afterwards.

    Raises
    ------
    InputError
        If it is no run, a damaged one, or only the report of one.
    """
    _refuse_report(path)
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


def _refuse_report(path: Path) -> None:
    """Tell a report that was handed on alone, as the shipped sample is, from a run that lost its results."""
    page = path / "report.html"
    try:
        only = look(page) is Place.FILE and look(path / RESULTS) is Place.NOTHING
    except InputError:  # a folder that may not be looked into: whoever opens it says so
        return
    if only:
        raise InputError(
            f"{path}: holds a written report only, without the results it was made from ({RESULTS}); "
            f"open {page}, or name the folder that a sweep wrote"
        )
