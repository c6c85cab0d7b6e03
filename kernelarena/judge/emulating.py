"""Emulated evidence: the correctness and hidden gates on this host, under the rules of a platform that is not here."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelarena import platforms
from kernelarena.judge.case import Case
from kernelarena.judge.gates import Venue, VenueUnready, pass_gates
from kernelarena.judge.problems import Problems
from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import Session
from kernelarena.judge.zygote import Zygote
from kernelarena.platforms.toolchains.built import Built
from kernelarena.spec import Evidence, Kernel, Language, Reason, Status, Tally


def emulate(zygote: Callable[[], Zygote], problems: Problems, case: Case) -> dict[str, Any]:
    """Run a kernel in Triton's interpreter on visible and hidden shapes.

    Parameters
    ----------
    zygote
        Returns the process to fork a candidate from.
    problems
        Inputs and truths of the platform.
    case
        What is judged.

    Returns
    -------
    dict
        The fields of the verdict that the gates decide.
    """
    with Session(zygote(), case.kernel) as session:
        found = pass_gates(session, Venue(problems, budget=problems.platform.budget), case)
    return {"evidence": Evidence.EMULATED, "toolchain": _toolchain(case.kernel), **found}


def emulate_built(
    zygote: Callable[[], Zygote],
    problems: Problems,
    case: Case,
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
    case
        What is judged.
    compiled
        What the compile gate found. It looks at every published shape at its full size, which an emulator cannot; a
        kernel that it refuses is not run.
    files
        What has been built for the kernel already.

    Returns
    -------
    dict
        The fields of the verdict. What keeps the emulator from running the kernel to the end does not take away what
        the compile gate has shown: unless emulated evidence is asked for by name, that is the verdict.
    """
    if compiled["status"] is Status.FAIL:  # what does not come to be gives no right answer on any shape
        tally = Tally(total=compiled.get("visible", Tally()).total)
        return {**compiled, "evidence": Evidence.EMULATED, "visible": tally}
    if compiled["status"] is not Status.PASS:
        return compiled
    venue = Venue(problems, budget=problems.platform.budget, prepare={"emulator": True}, built=files)
    try:
        with Session(zygote(), case.kernel, _QUOTA) as session:
            found = pass_gates(session, venue, case)
            stack = session.stack()
    except VenueUnready as unready:
        detail = f"the emulator could not be opened: {unready}"
        return {"status": Status.INFRA, "reason": Reason.WORKER_LOST, "detail": detail}
    unknown = found.get("reason") is Reason.EMULATOR_UNSUPPORTED
    if not case.sweep.names_emulated and (unknown or _ran_out_of_time(found, stack)):
        why = _UNKNOWN if unknown else _TOO_SLOW
        return {**compiled, "notes": (*compiled["notes"], why.format(found["detail"]))}
    if unknown:
        found |= {"status": Status.SKIPPED, "gate": None}
    toolchain = f"{compiled['toolchain']}, in the emulator"
    return {**compiled, "evidence": Evidence.EMULATED, "toolchain": toolchain, **found}


def _ran_out_of_time(found: dict[str, Any], stack: list[tuple[str, int]]) -> bool:
    """Whether all that can be said against a kernel is that the deadline of a call passed while it was emulated.

    Host code that hangs is not excused, nor is a kernel that the emulator finds to be endless.
    """
    failed = [trial.reason for trial in found["trials"] if not trial.passed]
    return failed == [Reason.TIMEOUT] and any(Path(file).is_relative_to(_EMULATOR) for file, _ in stack)


_EMULATOR = Path(platforms.__file__).parent / "emulator"
_UNKNOWN = "compiled and not run: the emulator does not know what it met {}"
_TOO_SLOW = "compiled and not run to the end: the emulator was still at work {}"
_QUOTA = Quota(address_space=1 << 40)
"""As of the compile gate: the persona maps memory that it never touches."""


def _toolchain(kernel: Kernel) -> str:
    if kernel.language is Language.TORCH:
        return f"torch {importlib.metadata.version('torch')}"
    return f"triton {importlib.metadata.version('triton')} interpreter"
