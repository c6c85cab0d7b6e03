"""What the page says of cells, kernels and launches, in words."""

from __future__ import annotations

from datetime import datetime

from kernelarena.report import text
from kernelarena.spec import Kernel, Launch, Platform, Provenance, Resources, TaskSource, Verdict


def label(verdict: Verdict) -> str:
    """Return a cell of the matrix in words, for those who do not see it."""
    outcome = f"{verdict.status}, {verdict.reason}" if verdict.reason is not None else str(verdict.status)
    return text.joined([f"{verdict.kernel} on {verdict.platform}: {outcome}", verdict.evidence], ", ")


def about(verdict: Verdict, kernel: Kernel | None, task: TaskSource | None) -> str:
    """Return what a kernel is, in a few words: task, language, home, who wrote it."""
    author = kernel.provenance if kernel is not None else Provenance()
    return text.joined(
        [
            task.task.title if task is not None else verdict.task,
            verdict.language,
            verdict.home and f"written for {verdict.home}",
            (name := text.joined([author.agent, author.model], ", ")) and f"by {name}",
        ]
    )


def grid(launch: Launch) -> str:
    """Return the blocks of a launch in each dimension, without trailing ones: ``1,024 × 8``."""
    sizes = list(launch.grid)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return " × ".join(f"{size:,}" for size in sizes)


def launched(launch: Launch) -> str:
    """Return how often it was launched, on which grid: ``12 launches, grid 1,024 × 8``.

    What was never launched says so, because "0 launches" reads like a fault of the count.
    """
    if launch.count:
        how = text.plural(launch.count, "launch", "launches")
    elif launch.reason is not None:
        how = "refused before launch"
    else:
        how = "not launched"
    return text.joined([how, f"grid {grid(launch)}" if launch.grid else None], ", ")


def moment(written: str) -> str:
    """Return a date of a manifest as people write it, or as it is if it is not one."""
    try:
        when = datetime.fromisoformat(written)
    except ValueError:
        return written
    return f"{when.day} {when:%B %Y, %H:%M} {when.tzname() or ''}".rstrip()


def needs(resources: Resources, platform: Platform | None) -> list[tuple[str, str, str | None]]:
    """Return what a launch needs, in the order of the table's columns.

    Returns
    -------
    list of (column, need, limit)
        The limit is None unless the need is over it.
    """
    limits = platform.limits if platform is not None else None
    r = resources

    def over(need: int | None, limit: int | None, shown: str) -> str | None:
        return shown if need is not None and limit is not None and need > limit else None

    threads, shared, registers = (
        (limits.max_threads_per_block, limits.shared_memory_per_block, limits.registers_per_thread)
        if limits is not None
        else (None, None, None)
    )
    occupancy = "–" if r.occupancy is None else text.percent(r.occupancy)
    return [
        ("threads", f"{r.threads_per_block:,}", over(r.threads_per_block, threads, f"{threads:,}" if threads else "")),
        ("warps", f"{r.warps:,}", None),
        ("shared memory", text.size(r.shared_memory), over(r.shared_memory, shared, text.size(shared))),
        ("registers", _number(r.registers), over(r.registers, registers, _number(registers))),
        ("spills", _number(r.spills), None),
        ("occupancy", text.joined([occupancy, r.limited_by and f"by {r.limited_by}"], " "), None),
    ]


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
