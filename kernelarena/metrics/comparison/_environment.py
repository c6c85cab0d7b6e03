"""What two runs ran on and with, as far as it differs: the first thing to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernelarena.spec import RunData

_QUIET = frozenset({"platforms", "kernels", "tasks", "workers", "cache", "keep_going", "retries"})
"""Settings of a sweep that say what is in the run, or how fast it goes, and not how a cell is judged."""


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same."""

    name: str
    base: str
    new: str
    """Empty where there is none."""


def differences(base: RunData, new: RunData) -> list[Difference]:
    """Return what differs: versions first, then the host, the revision, and how thoroughly cells were judged."""
    return [Difference(name, old, now) for name, old, now in _pairs(base, new) if old != now]


def redefined(base: RunData, new: RunData) -> list[Difference]:
    """Return the platforms, tasks and limits that both runs know and understand differently."""
    found = []
    for platform in new.platforms.keys() & base.platforms.keys():
        for name in type(new.platforms[platform]).model_fields:
            old, now = getattr(base.platforms[platform], name), getattr(new.platforms[platform], name)
            if old != now and name not in ("notes", "source", "title", "aliases"):
                found.append(Difference(f"platform {platform}: {name}", _text(old), _text(now)))
    for task in new.tasks.keys() & base.tasks.keys():
        if base.tasks[task] != new.tasks[task]:
            found.append(Difference(f"task {task}", "one definition", "another"))
    return sorted(found, key=lambda difference: difference.name)


def _pairs(base: RunData, new: RunData) -> Iterator[tuple[str, str, str]]:
    before, after = base.manifest.environment, new.manifest.environment
    for name in dict.fromkeys([*before.versions, *after.versions]):
        yield name, before.versions.get(name, ""), after.versions.get(name, "")
    yield "host", before.host, after.host
    yield "git revision", before.git_revision or "", after.git_revision or ""
    old, now = base.manifest.sweep, new.manifest.sweep
    for name in type(now).model_fields:
        if name not in _QUIET:
            yield f"sweep: {name}", _text(getattr(old, name)), _text(getattr(now, name))


def _text(value: object) -> str:
    return "" if value is None else str(value)
