"""Whether the kernels beside the tasks are accepted every time: the same judge, with one fresh seed after the other."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.util import Finalize
from typing import Any, NamedTuple

from rich.console import Group
from rich.table import Table
from rich.text import Text

from kernelarena.cli.page import console, print_json
from kernelarena.cli.plan import count
from kernelarena.cli.steps import Steps
from kernelarena.cluster.worker import JUDGE, Judge, load
from kernelarena.errors import InfraError, InputError
from kernelarena.report.text import clean
from kernelarena.spec import Evidence, Kernel, Platform, Status, Sweep, TaskSource, Verdict
from kernelarena.spec.catalogue import kernels_of
from kernelarena.spec.kernels import load_kernels
from kernelarena.spec.sweep import MOST_PER_DEVICE


@dataclass
class _Record:
    kernel: Kernel
    seeds: int = 0
    accepted: int = 0
    trials: int = 0
    seconds: float = 0.0
    failures: list[tuple[int, Verdict]] = field(default_factory=list)
    infra: list[tuple[int, Verdict]] = field(default_factory=list)

    def add(self, seed: int, verdict: Verdict) -> None:
        self.seeds += 1
        self.trials += len(verdict.trials)
        self.seconds += verdict.duration_s
        if verdict.status is Status.PASS:
            self.accepted += 1
        else:
            (self.failures if verdict.status is Status.FAIL else self.infra).append((seed, verdict))


class _Work(NamedTuple):
    kernel: Kernel
    task: TaskSource
    platform: Platform
    sweep: Sweep
    seed: int


def verify_kernels(
    chosen: list[TaskSource], platform: Platform, seeds: range, *, jobs: int = 1, as_json: bool = False
) -> int:
    """Judge every kernel beside the tasks with every seed.

    Parameters
    ----------
    chosen
        The tasks.
    platform
        Where.
    seeds
        Hidden seeds: each draws other shapes and other inputs.
    jobs
        Judges that work side by side, each in a process of its own.
    as_json
        Whether to print JSON rather than a table.

    Returns
    -------
    int
        1 if any kernel failed with any seed.

    Raises
    ------
    InputError
        If no kernel lies beside any of the tasks.
    InfraError
        If some could not be judged.
    """
    tasks = {source.task.id: source for source in chosen}
    folders = [folder for source in chosen for folder in kernels_of(source)]
    if not folders:
        raise InputError(f"no kernel lies beside {', '.join(tasks)}; put one in its folder kernels/<name>/")
    kernels, _ = load_kernels(folders, tasks=tasks)
    # A kernel that was only compiled has not been accepted; one that was measured has been run as well.
    sweep = Sweep(require=Evidence.EMULATED, per_device=min(jobs, MOST_PER_DEVICE))
    records = [_Record(kernel) for kernel in kernels]
    cells = [(record, seed) for record in records for seed in seeds]
    judged = _one_by_one if jobs == 1 else _side_by_side
    try:
        with Steps("cells", len(cells)) as steps:
            work = [_Work(record.kernel, tasks[record.kernel.task], platform, sweep, seed) for record, seed in cells]
            # Verdicts come in the order of the cells.
            for (record, seed), verdict in zip(cells, judged(work, jobs), strict=True):
                record.add(seed, verdict)
                steps.done(f"{record.kernel.id}, {record.accepted} of {record.seeds} accepted")
    finally:  # hours of judging are not lost when the last of them is interrupted
        if begun := [record for record in records if record.seeds]:
            if as_json:
                print_json([_plain(record, platform) for record in begun])
            else:
                console().print(_page(begun))
    for record in records:
        for seed, verdict in record.infra:
            raise InfraError(f"{record.kernel.id} with seed {seed} could not be judged: {verdict.detail}")
    return int(any(record.failures for record in records))


def _one_by_one(work: list[_Work], jobs: int) -> Iterator[Verdict]:
    with contextlib.closing(load(JUDGE)) as judge:
        for one in work:
            yield judge.judge(*one)


def _side_by_side(work: list[_Work], jobs: int) -> Iterator[Verdict]:
    # Spawned, because this process has threads (the progress bar's) that a fork would lose.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_start) as pool:
        yield from pool.map(_judge, work)


def _start() -> None:
    """Load a judge in a process of the pool; it is closed when the process ends, where ``atexit`` is not heard."""
    judge = load(JUDGE)
    Finalize(judge, judge.close, exitpriority=1)
    _judges.append(judge)


def _judge(one: _Work) -> Verdict:
    return _judges[0].judge(*one)


_judges: list[Judge] = []


def _plain(record: _Record, platform: Platform) -> dict[str, Any]:
    return {
        "kernel": record.kernel.id,
        "task": record.kernel.task,
        "platform": platform.id,
        "seeds": record.seeds,
        "accepted": record.accepted,
        "trials": record.trials,
        "seconds": round(record.seconds, 3),
        "failures": [
            {"seed": seed, "reason": str(verdict.reason), "detail": verdict.detail}
            for seed, verdict in [*record.failures, *record.infra]
        ],
    }


def _page(records: list[_Record]) -> Group:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("kernel", no_wrap=True, style="bold")
    for heading in ("seeds", "accepted", "trials", "s/seed"):
        table.add_column(heading, justify="right", no_wrap=True)
    for record in records:
        numbers = (str(record.seeds), str(record.accepted), str(record.trials), f"{record.seconds / record.seeds:.2g}")
        table.add_row(Text(clean(record.kernel.id)), *map(Text, numbers))
    lines: list[Any] = [table, ""]
    for record in records:
        for seed, verdict in [*record.failures, *record.infra][:1]:
            text = f"{record.kernel.id}, seed {seed}: {verdict.reason}: {verdict.detail}"
            lines += [Text(clean(text)), ""]
    always = sum(record.accepted == record.seeds for record in records)
    trials = sum(record.trials for record in records)
    lines.append(Text(f"{always} of {count(len(records), 'kernel')} accepted every time; {count(trials, 'trial')}",
                      style="dim"))  # fmt: skip
    return Group(*lines)
