"""Kernels in C++: which compiler they get, and what is said where there is none for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelarena.judge.compiling import compile_gate
from kernelarena.judge.zygote import Zygote
from kernelarena.platforms.backend import Availability, backend_for
from kernelarena.platforms.toolchains import cpp
from kernelarena.platforms.toolchains.built import Built
from kernelarena.platforms.toolchains.cpp.compiler import RECORDER, WATCHER
from kernelarena.platforms.toolchains.cpp.objects import of_the_host
from kernelarena.spec import Evidence, Gate, Kernel, Language, Platform, Reason, Status, Sweep, Tally, TaskSource


def judge_cpp(
    zygote: Callable[[], Zygote],
    kernel: Kernel,
    task: TaskSource,
    platform: Platform,
    sweep: Sweep,
    available: Availability,
) -> tuple[dict[str, Any], Built]:
    """Return what compiling decides on a kernel in C++, and what is handed to the process that runs it.

    Parameters
    ----------
    zygote
        Returns the process to fork a candidate from.
    kernel, task, platform, sweep
        What is judged, by what, for which chip, and with which deadline.
    available
        What evidence of the platform can be had here.

    Returns
    -------
    dict, dict
        The fields of the verdict, and what was built, as far as that is known.
    """
    if Evidence.COMPILED not in available.evidence:
        why = available.why_not if not available.evidence else _NO_CHIP.format(kernel.language, platform.id)
        return {"status": Status.SKIPPED, "reason": Reason.DEVICE_UNAVAILABLE, "detail": why}, {}
    taken = _languages(platform)
    if kernel.language not in taken:
        others = " or ".join(f"'{language}'" for language in taken) or "Triton"
        return {
            "status": Status.FAIL, "gate": Gate.COMPILE, "reason": Reason.UNSUPPORTED_FEATURE,
            "evidence": Evidence.COMPILED,
            "detail": f"{platform.id} has no compiler of '{kernel.language}', and it is not translated to what it has; "
            f"write it in {others} as well",
        }, {}  # fmt: skip
    try:
        compiler = cpp.find(kernel.language, platform.arch)
    except cpp.Missing as missing:
        return {"status": Status.INFRA, "reason": Reason.TOOLCHAIN_MISSING, "detail": str(missing)}, {}
    here = Evidence.MEASURED in available.evidence
    given = dict(of_the_host(compiler, RECORDER))
    # Whatever evidence is asked for today: objects are small, and compiling is what takes time.
    fields, built = compile_gate(zygote, kernel, task, platform, sweep, keep=True, given=given)
    if fields["status"] is Status.SKIPPED:  # what it calls of PyTorch's is not known here
        fields |= {"evidence": None, "gate": None, "visible": Tally()}
    if compiler.translator is not None:
        fields["notes"] = (_TRANSLATED.format(kernel.language, compiler.translator), *fields["notes"])
    return fields, {**built, **given, **(of_the_host(compiler, WATCHER) if here else {})}


def buildable(kernel: Kernel, platform: Platform) -> bool:
    """Return whether this host has a compiler for a kernel in C++."""
    try:
        cpp.find(kernel.language, platform.arch)
    except cpp.Missing:
        return False
    return kernel.language in _languages(platform)


def _languages(platform: Platform) -> tuple[Language, ...]:
    """Return those in C++ that are built for a platform's chips."""
    backend = backend_for(platform)
    return () if backend is None else tuple(language for language in backend.languages if language.is_cpp)


_TRANSLATED = "translated from '{}' by {}, before it was compiled; the log shows the lines that changed"
_NO_CHIP = "a kernel in '{0}' is built for a chip, and {1} is none; sweep platforms that are"
