"""The judge: one kernel on one platform in, one verdict out.

It is the trusted side. It chooses the strongest evidence that can be had here, starts a candidate process for the
kernel, and turns what is seen into a verdict with exactly one reason. A kernel that crashes, hangs or lies costs its
own verdict and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from kernelarena.judge.case import Case
from kernelarena.judge.compiling import compile_gate
from kernelarena.judge.cpp import buildable, judge_cpp
from kernelarena.judge.emulating import emulate, emulate_built
from kernelarena.judge.laps import Laps
from kernelarena.judge.measuring import Bench, DeviceUnhealthy, measure
from kernelarena.judge.problems import Problems
from kernelarena.judge.scratch import remove_abandoned
from kernelarena.judge.zygote import Mode, Zygote, ZygoteLost
from kernelarena.platforms.backend import Availability, availability
from kernelarena.platforms.toolchains.built import Built
from kernelarena.spec import Durations, Evidence, Gate, Kernel, Platform, Reason, Status, Sweep, TaskSource, Verdict


class Judge:
    """Judges kernels one after the other; keeps what is costly to start between them.

    The processes that candidates are forked from start when they are first needed.
    """

    def __init__(self) -> None:
        self._zygotes: dict[tuple[Mode, tuple[str, ...]], Zygote] = {}
        self._problems: dict[str, Problems] = {}
        self._benches: dict[str, Bench] = {}
        self._isolation: tuple[str, ...] | None = None
        remove_abandoned()

    def judge(self, kernel: Kernel, task: TaskSource, platform: Platform, sweep: Sweep, hidden_seed: int) -> Verdict:
        """Run every gate for which evidence can be had here.

        Parameters
        ----------
        kernel
            The submission.
        task
            What it should compute.
        platform
            Where.
        sweep
            Deadlines, the hidden gate's size, and whether the compile gate may use its cache.
        hidden_seed
            The run's; it draws shapes and inputs.

        Returns
        -------
        Verdict
            Failures of the kernel are verdicts; so is trouble around it (``infra``).

        Raises
        ------
        InputError
            If the task's own code does not work.
        """
        started = time.monotonic()
        laps = Laps()
        self._isolation = None
        available = availability(platform).sought(sweep.evidence)
        found: dict[str, Any]
        try:
            found = self._found(Case(kernel, task, sweep, hidden_seed), platform, available, laps)
        except DeviceUnhealthy as unhealthy:
            found = {"status": Status.INFRA, "reason": Reason.DEVICE_UNHEALTHY, "detail": str(unhealthy)}
        except ZygoteLost as lost:
            self.close()
            found = {
                "status": Status.INFRA,
                "reason": Reason.WORKER_LOST,
                "detail": f"the process that kernels are forked from was lost: {lost}",
            }
        laps.seconds |= found.pop("durations", {})
        return Verdict(
            task=task.task.id,
            kernel=kernel.id,
            language=kernel.language,
            home=kernel.home,
            platform=platform.id,
            isolation=self._isolation,
            has_speed=task.task.computes,
            duration_s=round(time.monotonic() - started, 3),
            durations=Durations.model_validate({name: round(seconds, 3) for name, seconds in laps.seconds.items()}),
            **found,
        )

    def build(self, kernel: Kernel, task: TaskSource, platform: Platform, sweep: Sweep) -> None:
        """Run the compile gate of a kernel that will be run, so that a judge on the device finds what it built.

        Parameters
        ----------
        kernel, task, platform, sweep
            As of :meth:`judge`; nothing happens unless ``sweep.cache``, where results are kept.
        """
        zygote = partial(self._zygote, Mode.COMPILE, ())
        if sweep.cache and kernel.language.is_cpp:
            judge_cpp(zygote, kernel, task, platform, sweep, availability(platform))
        elif sweep.cache:
            compile_gate(zygote, kernel, task, platform, sweep, keep=True, ahead=True)

    def _found(self, case: Case, platform: Platform, available: Availability, laps: Laps) -> dict[str, Any]:
        """Return the fields of the verdict that the strongest evidence decides."""
        kernel, task, sweep = case.kernel, case.task, case.sweep

        def forks(mode: Mode, devices: tuple[str, ...] = ()) -> Callable[[], Zygote]:
            return lambda: self._zygote(mode, devices)

        here, emulated = (kind in available.evidence for kind in (Evidence.MEASURED, Evidence.EMULATED))
        compiled: dict[str, Any] = {"status": Status.SKIPPED}
        built: Built = {}
        if kernel.language.is_cpp:
            with laps.of(Gate.COMPILE.value):
                compiled, built = judge_cpp(forks(Mode.COMPILE), kernel, task, platform, sweep, available)
            if compiled["status"] in (Status.SKIPPED, Status.INFRA):  # it cannot be built, for no fault of its own
                return compiled
            here = here and buildable(kernel, platform)
        elif emulated and Evidence.COMPILED not in available.evidence:  # there is nothing to compile for
            return emulate(forks(Mode.INTERPRET), self._problems_of(platform), case)
        elif not available.evidence:
            return {"status": Status.SKIPPED, "reason": Reason.DEVICE_UNAVAILABLE, "detail": available.why_not}
        elif Evidence.COMPILED in available.evidence:
            keep = here or emulated
            with laps.of(Gate.COMPILE.value):
                compiled, built = compile_gate(forks(Mode.COMPILE), kernel, task, platform, sweep, keep=keep)
        if here:
            bench = self._bench(platform, sweep.per_device)
            return measure(forks(Mode.COMPILE, bench.paths), bench, case, compiled, built)
        if emulated:
            return emulate_built(forks(Mode.COMPILE), self._problems_of(platform), case, compiled, built)
        return compiled

    def _bench(self, platform: Platform, per_device: int) -> Bench:
        bench = self._benches.get(platform.id)
        if bench is None or (bench.platform, bench.per_device) != (platform, per_device):
            if bench is not None:
                bench.close()
            bench = self._benches[platform.id] = Bench(platform, per_device)
        return bench

    def _zygote(self, mode: Mode, devices: tuple[str, ...]) -> Zygote:
        zygote = self._zygotes.get((mode, devices))
        if zygote is None or not zygote.alive:
            zygote = self._zygotes[mode, devices] = Zygote(mode, devices)
        self._isolation = zygote.isolation.words
        return zygote

    def _problems_of(self, platform: Platform) -> Problems:
        known = self._problems.get(platform.id)
        if known is None or known.platform != platform:
            known = self._problems[platform.id] = Problems(platform)
        return known

    def close(self) -> None:
        """End every process that was started, and let go of devices."""
        for bench in self._benches.values():
            bench.close()
        self._benches.clear()
        for zygote in self._zygotes.values():
            zygote.close()
        self._zygotes.clear()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
