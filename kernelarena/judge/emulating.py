"""Emulated evidence: the correctness and hidden gates on this host, under the rules of a platform that is no chip."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

from kernelarena.judge.gates import Venue, pass_gates
from kernelarena.judge.problems import Problems
from kernelarena.judge.session import Session
from kernelarena.judge.zygote import Zygote
from kernelarena.spec import Evidence, Kernel, Language, Sweep, TaskSource


def emulate(
    zygote: Callable[[], Zygote],
    problems: Problems,
    kernel: Kernel,
    task: TaskSource,
    sweep: Sweep,
    hidden_seed: int,
) -> dict[str, Any]:
    """Run a kernel in Triton's interpreter on visible and hidden shapes.

    Parameters
    ----------
    zygote
        Returns the process to fork a candidate from.
    problems
        Inputs and truths of the platform.
    kernel, task, sweep
        What is judged, by what, and how thoroughly.
    hidden_seed
        Draws hidden shapes and the inputs of every trial.

    Returns
    -------
    dict
        The fields of the verdict that the gates decide.
    """
    with Session(zygote(), kernel) as session:
        found = pass_gates(session, Venue(problems), kernel, task, sweep, hidden_seed)
    return {"evidence": Evidence.EMULATED, "toolchain": _toolchain(kernel), **found}


def _toolchain(kernel: Kernel) -> str:
    if kernel.language is Language.TORCH:
        return f"torch {importlib.metadata.version('torch')}"
    return f"triton {importlib.metadata.version('triton')} interpreter"
