"""Measured evidence: the correctness and hidden gates on the chip itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from kernelarena.errors import InfraError, InputError
from kernelarena.judge import health
from kernelarena.judge.abilities import computes
from kernelarena.judge.case import Case
from kernelarena.judge.copying import CopyExchange
from kernelarena.judge.device_stage import DeviceAccess
from kernelarena.judge.gates import Venue, VenueUnready, pass_gates
from kernelarena.judge.problems import Problems
from kernelarena.judge.sandbox import Quota
from kernelarena.judge.session import Session
from kernelarena.judge.timing.bench import TimingBench
from kernelarena.judge.turns import Turns
from kernelarena.judge.zygote import Zygote
from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.toolchains import built
from kernelarena.platforms.toolchains.built import Built
from kernelarena.protocol import compile_cache
from kernelarena.spec import Evidence, Gate, Language, Platform, Reason, Status, Sweep
from kernelarena.spec.vocabulary import ReasonGroup

_QUOTA = Quota(address_space=None, resident=16 << 30)
"""Runtimes of devices reserve addresses by the terabyte, and keep some gigabytes of the host's memory."""
_CANDIDATES_SHARE = 0.45
"""Of the device's memory: what a candidate's framework may allocate."""
_JUDGES_SHARE = 0.45
"""Of the device's memory: what the judge's own may, for truths; what is shared and both contexts take the rest."""
_LARGEST_SHARE = 1 / 64
"""Of the device's memory: the tensors of one hidden shape. Its truth takes a dozen copies of them in float64."""
_LARGEST = 1 << 29
"""Bytes of them at most: many times what any cache holds, and truths take a second where shapes are larger."""
_LARGEST_ON_HOST = 1 << 26
"""Bytes of them where the host computes truths, many times slower."""
_THOROUGH = 1 / 3
"""Of the shapes, besides the first of each dtype; the others are tried in a single call."""
_CACHE = 1 << 28
"""Bytes that are flushed where the platform file does not say how large the last-level cache is."""
_FLUSHED = 2
"""By so much more than the last-level cache is written to flush it: caches do not replace the oldest first."""
_MUCH = 0.25
"""Of the device's memory: whoever holds so much when the judge gets none has taken it."""
_RETURN_SECONDS = 10.0
"""For the driver to give back what an ended process held."""


class DeviceUnhealthy(Exception):
    """The device does not do what it should, whatever kernel it is given."""


class Bench:
    """A device that this process has opened, with what is remembered between the kernels that it runs.

    Parameters
    ----------
    platform
        A chip that is in this host; the first of several is taken.
    per_device
        Judges that share it, each its memory too.

    Raises
    ------
    DeviceUnhealthy
        If the device cannot be opened.
    """

    def __init__(self, platform: Platform, per_device: int = 1) -> None:
        backend = backend_for(platform)
        present = backend.present(platform) if backend is not None else []
        if backend is None or not present:
            raise DeviceUnhealthy(f"no {platform.title} is here any more")
        access = backend.access(present[0])
        self.paths = access.paths
        device = present[0]
        try:
            self._turns = Turns(device.pci or device.uuid or f"{platform.backend}-{device.index}")
        except InfraError as error:
            raise DeviceUnhealthy(str(error)) from None
        try:
            with self._turns.together():
                self._device = backend.open(device.index)
        except RuntimeError as error:
            self._turns.close()
            raise DeviceUnhealthy(f"the device cannot be opened: {_one_line(error)}") from None
        # Where a chip has no float64, truths are computed on the host: the judge's tensors lie there, and are copied.
        wide = computes(self._device.device, torch.float64)
        truths = self._device.device if wide else torch.device("cpu")
        shared = self._device.exchange() if wide else None
        total = self._device.memory()[1] // per_device
        self._device.limit_memory(int(_JUDGES_SHARE * total))
        told = DeviceAccess(
            environment=dict(access.environment),
            shared=shared is not None,
            memory=int(_CANDIDATES_SHARE * total),
            flush=_FLUSHED * ((platform.memory and platform.memory.cache_bytes) or _CACHE),
        )
        self.platform = platform
        self.per_device = per_device
        self.probe = health.probe(Language.TORCH if backend.triton_target(platform) is None else Language.TRITON)
        self.total = total
        self.venue = Venue(
            problems=Problems(platform, truths),
            exchange=shared or CopyExchange(truths),
            late=Reason.OFF_STREAM_WORK,
            prepare={"device": told.model_dump()},
            thorough=_THOROUGH,
            max_bytes=min(int(_LARGEST_SHARE * total), _LARGEST if wide else _LARGEST_ON_HOST),
            alone=self._turns.alone,
        )
        self.timing = TimingBench(self.venue, backend.telemetry, device, self._device, total, _QUOTA)
        self._libraries: Built | None = None
        """What launching takes on this host, whatever the kernel; built once, by a kernel that is ours."""
        self.suspect = True
        """Whether the device must prove itself before the next kernel is judged on it."""
        self.lost = ""
        """Why this process can use the device no more."""

    def close(self) -> None:
        """End what was started, and let go of the device."""
        self.timing.close()
        self._turns.close()

    def free(self) -> int:
        """Return the bytes of device memory that nobody holds; this process keeps none that it does not use."""
        self._device.trim()
        return self._device.memory()[0]

    def run(self, zygote: Zygote, case: Case, files: Built) -> dict[str, Any]:
        """Put one kernel through the gates on the device.

        Parameters
        ----------
        zygote, case
            As of :func:`measure`.
        files
            What has been built for the kernel already.

        Raises
        ------
        DeviceUnhealthy
            If the judge itself cannot use the device any more.
        """
        held = 0
        timed = case.sweep.timing.enabled and case.task.task.timed
        try:
            with self._turns.together(), Session(zygote, case.kernel, _QUOTA) as session:
                try:
                    if timed:
                        self.timing.expect(zygote, case)
                    venue = replace(self.venue, built={**files, **(self._libraries or {})})
                    timing = partial(self.timing.time, zygote, session, case)
                    found = pass_gates(session, venue, case, timing if timed else None)
                    if self._libraries is None and case.kernel == self.probe and found["status"] is Status.PASS:
                        self._libraries = _libraries(session, case.sweep)
                    return found
                except (torch.OutOfMemoryError, MemoryError):
                    held = self.free()
        except VenueUnready as unready:
            self.suspect = True
            raise DeviceUnhealthy(f"a kernel's process cannot use it: {unready}") from None
        except (
            RuntimeError,
            InputError,
        ) as error:  # of what class, depends on the runtime, and on whose call it was in
            if computes(self._device.device):
                raise
            self.lost = f"the judge's own work on the device failed: {_one_line(error)}"
            raise DeviceUnhealthy(self.lost) from None
        finally:
            self.timing.dismiss()
        return self._without_memory(held)

    def _without_memory(self, before: int) -> dict[str, Any]:
        """Say who is to blame for the judge's having got no memory, now that the kernel's process is ended."""
        deadline = time.monotonic() + _RETURN_SECONDS
        while (taken := self.free() - before) < _MUCH * self.total:
            if time.monotonic() > deadline:
                raise DeviceUnhealthy("the judge got no memory on the device, and the kernel does not hold it")
            time.sleep(0.1)
        return {
            "status": Status.FAIL,
            "gate": Gate.CORRECTNESS,
            "reason": Reason.OUT_OF_MEMORY,
            "detail": f"it held {taken >> 20} MiB of device memory, so that nothing was left for the judge; "
            "free what a call does not need any more",
        }


def measure(
    zygote: Callable[[], Zygote],
    bench: Bench,
    case: Case,
    compiled: dict[str, Any],
    files: Built,
) -> dict[str, Any]:
    """Run a kernel on a device, on visible and hidden shapes.

    Parameters
    ----------
    zygote
        Returns the process to fork a candidate from.
    bench
        The device.
    case
        What is judged.
    compiled
        What the compile gate found under the persona of the chip. The chip has the last word; where both refuse, the
        compile gate's words say more.

    Returns
    -------
    dict
        The fields of the verdict.

    Raises
    ------
    DeviceUnhealthy
        If no kernel can be judged here, this one or another.
    """
    if bench.lost:
        raise DeviceUnhealthy(bench.lost)
    if bench.suspect:
        _check_health(zygote(), bench)
    found = bench.run(zygote(), case, files)
    bench.suspect = found["status"] is Status.FAIL and found["reason"].group is ReasonGroup.RUN
    return {"toolchain": compile_cache.toolchain(case.kernel.language, bench.platform.arch), **_agreed(compiled, found)}


def _libraries(session: Session, sweep: Sweep) -> Built:
    told = session.ask({"do": "built"}, sweep.deadlines.call)["built"]
    return built.libraries({name: data for entry in told for name, data in built.decoded(entry).items()})


def _check_health(zygote: Zygote, bench: Bench) -> None:
    found = bench.run(zygote, Case(bench.probe, health.TASK, health.SWEEP, 0), {})
    if found["status"] is not Status.PASS:
        said = found.get("log", "").strip().splitlines()[-1:]
        why = "; ".join([f"{found['reason']}: {found['detail']}", *said])
        raise DeviceUnhealthy(f"a kernel that is known to be right fails on it ({why})")


def _agreed(compiled: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: compiled[name] for name in ("resources", "launches", "notes") if name in compiled}
    notes = (*compiled.get("notes", ()), *found.get("notes", ()))
    fields |= {"evidence": Evidence.MEASURED, **found, "notes": notes}
    if compiled["status"] is not Status.FAIL:
        return fields
    if found["status"] is Status.PASS:
        refusal = f"a process that only pretends to be the chip refused it ({compiled['reason']}: {compiled['detail']})"
        return fields | {"notes": (*notes, refusal)}
    groups = compiled["reason"].group, found["reason"].group
    if groups[0] is ReasonGroup.COMPILE and groups[1] in (ReasonGroup.COMPILE, ReasonGroup.RUN):
        return fields | {name: compiled[name] for name in ("gate", "reason", "detail", "location", "log")}
    return fields


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
