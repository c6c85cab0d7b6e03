"""Compiled evidence: the compile gate in a candidate process, decided here, remembered on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import CandidateEnded, Session, line_of
from kernelarena.judge.zygote import Zygote
from kernelarena.platforms.toolchains import built
from kernelarena.platforms.toolchains.built import Built
from kernelarena.protocol import compile_cache
from kernelarena.protocol.compile import Decision, decide
from kernelarena.spec import Evidence, Gate, Kernel, Language, Platform, Reason, Status, Sweep, Tally, TaskSource

_QUOTA = Quota(address_space=1 << 40)
"""Production shapes are mapped as zeros and never touched; memory in use is what is limited."""


def compile_gate(
    zygote: Callable[[], Zygote],
    kernel: Kernel,
    task: TaskSource,
    platform: Platform,
    sweep: Sweep,
    *,
    keep: bool = False,
    ahead: bool = False,
    given: Built = MappingProxyType({}),
) -> tuple[dict[str, Any], Built]:
    """Build a kernel for a platform on every visible shape and hold it against the chip's limits.

    Parameters
    ----------
    zygote
        Returns the process to fork a candidate from; not called when the cache knows the answer.
    kernel, task, platform, sweep
        What is judged, by what, for which chip, and with which deadline.
    keep
        Whether what is built will be run, by a process that need not build it once more.
    ahead
        Whether to build also what shapes other than the published ones may need, which takes several times as long.
    given
        What has been built already that does not depend on the kernel.

    Returns
    -------
    dict, dict
        The fields of the verdict that the gate decides, and what was built, as far as that is known.
    """
    key = compile_cache.key(kernel, task, platform)
    decision = compile_cache.load(key) if sweep.cache else None
    cached = decision is not None
    if decision is None:
        decision, files = _decide(zygote(), kernel, task, platform, sweep, given, keep=keep, ahead=ahead)
        if sweep.cache and decision.reason not in _NOT_REMEMBERED:
            compile_cache.store(key, decision)
            if keep:
                compile_cache.store_built(key, files)
    else:
        files = compile_cache.load_built(key) if keep else {}
    fields = {name: getattr(decision, name) for name in Decision.model_fields if name != "sources"}
    fields |= {
        "evidence": Evidence.COMPILED,
        "toolchain": compile_cache.toolchain(kernel.language, platform.arch),
        "cached": cached,
    }
    if kernel.language is Language.TORCH and decision.status is Status.PASS:
        fields |= {"evidence": None, "status": Status.SKIPPED, "gate": None, "reason": Reason.DEVICE_UNAVAILABLE}
        fields |= {"detail": _NOTHING_TO_COMPILE.format(platform.title), "visible": Tally(), "notes": ()}
    return fields, files


_NOTHING_TO_COMPILE = (
    "the host code runs as on this chip, but framework code has nothing to compile: only a host with a {} can tell more"
)


_NOT_REMEMBERED = (Reason.COMPILE_TIMEOUT, Reason.OUT_OF_MEMORY, Reason.CRASH, Reason.ILLEGAL_ACCESS)
"""They may be the machine's doing."""


def _decide(
    zygote: Zygote,
    kernel: Kernel,
    task: TaskSource,
    platform: Platform,
    sweep: Sweep,
    given: Built,
    *,
    keep: bool,
    ahead: bool,
) -> tuple[Decision, dict[str, bytes]]:
    from kernelarena.judge.answer import acted
    from kernelarena.judge.memory import handed_over
    from kernelarena.judge.outline import compile_job  # imports torch, which an answer from the cache does not need

    job = compile_job(kernel, task, platform, ahead=ahead)
    events: list[object] = []
    files: dict[str, bytes] = {}
    ended, said = None, ()
    seconds = sweep.deadlines.compile
    request = {"do": "compile", "job": job.model_dump(mode="json"), "keep": keep}
    archive = handed_over(built.packed(given, deflated=False))
    with archive as handed, Session(zygote, kernel, _QUOTA) as session:
        try:
            for message in session.stream(request, seconds, [handed]):
                if "done" in message:
                    said = message.get("acts", ())
                    break
                if "built" in message:
                    with contextlib.suppress(ValueError):  # it will be built once more, then
                        # What came first was told before the kernel could have a hand in it.
                        files = {**built.kernels(built.decoded(message["built"])), **files}
                    continue
                events.append(message.get("event"))
        except CandidateEnded as end:
            if not (events and _is_last(events[-1])):  # what comes after it is of use, and decides nothing
                ended = end
        log = session.log()
    deed = acted({"acts": session.noticed or said}, lambda file, line: line_of(kernel, file, line))
    decision = decide(
        job, task.task, events, timed_out=ended is not None and ended.reason is Reason.TIMEOUT,
        exit_code=None if ended is None else ended.exit_code, log=log, deadline=seconds,
    )  # fmt: skip
    if deed is not None:
        changes = {"status": Status.FAIL, "gate": Gate.COMPILE, "reason": deed.reason, "detail": deed.detail}
        return decision.model_copy(update={**changes, "location": deed.location, "log": log}), {}
    return (decision, files) if ended is None else (_named_alike(decision, ended), {})


def _is_last(event: object) -> bool:
    return isinstance(event, dict) and event.get("event") in ("ended", "load-failed")


def _named_alike(decision: Decision, ended: CandidateEnded) -> Decision:
    """Give the end of a kernel's process the reason that it has on every other gate."""
    if decision.reason is not Reason.CRASH and ended.reason not in (Reason.OUT_OF_MEMORY, Reason.JUDGE_TAMPERING):
        return decision  # it died at something that has a name of its own: a compiler that crashed
    by_itself = ended.exit_code is not None and ended.reason is not Reason.JUDGE_TAMPERING
    detail = decision.detail if by_itself else f"under the persona, {ended.detail}"
    location = ended.location or decision.location
    return decision.model_copy(update={"reason": ended.reason, "detail": detail, "location": location})
