"""Emulated evidence: the correctness and hidden gates on this host, under the rules of a platform that is not here."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

from kernelarena.judge.gates import Venue, pass_gates
from kernelarena.judge.problems import Problems
from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import Session
from kernelarena.judge.zygote import Zygote
from kernelarena.platforms.toolchains.built import Built
from kernelarena.spec import Evidence, Kernel, Language, Reason, Status, Sweep, TaskSource


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
        found = pass_gates(session, Venue(problems, budget=problems.platform.budget), kernel, task, sweep, hidden_seed)
    return {"evidence": Evidence.EMULATED, "toolchain": _toolchain(kernel), **found}


def emulate_built(
    zygote: Callable[[], Zygote],
    problems: Problems,
    kernel: Kernel,
    task: TaskSource,
    sweep: Sweep,
    hidden_seed: int,
    compiled: dict[str, Any],
    files: Built,
) -> dict[str, Any]:
    """Run what was compiled for an absent chip, in an emulator of it, on visible and hidden shapes.

    Parameters
    ----------
    zygote
        Returns the process to fork a candidate from.
    problems
        Inputs and truths of the platform.
    kernel, task, sweep, hidden_seed
        As of :func:`emulate`.
    compiled
        What the compile gate found. It looks at every published shape at its full size, which an emulator cannot; a
        kernel that it refuses is not run.
    files
        What has been built for the kernel already.

    Returns
    -------
    dict
        The fields of the verdict.
    """
    if compiled["status"] is not Status.PASS:
        return compiled
    venue = Venue(problems, budget=problems.platform.budget, prepare={"emulator": True}, built=files)
    with Session(zygote(), kernel, _QUOTA) as session:
        found = pass_gates(session, venue, kernel, task, sweep, hidden_seed)
    if found.get("reason") is Reason.EMULATOR_UNSUPPORTED:
        found |= {"status": Status.SKIPPED, "gate": None}
    toolchain = f"{compiled['toolchain']}, in the emulator"
    return {**compiled, "evidence": Evidence.EMULATED, "toolchain": toolchain, **found}


_QUOTA = Quota(address_space=1 << 40)
"""As of the compile gate: the persona maps memory that it never touches."""


def _toolchain(kernel: Kernel) -> str:
    if kernel.language is Language.TORCH:
        return f"torch {importlib.metadata.version('torch')}"
    return f"triton {importlib.metadata.version('triton')} interpreter"
