"""From a configuration to what a run judges: platforms, tasks and kernels, read and checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelarena.errors import InputError, nearest
from kernelarena.platforms import catalogue
from kernelarena.platforms.backend import Availability
from kernelarena.spec import Baseline, Evidence, Kernel, Platform, Sweep, TaskSource, paths, yamlfile
from kernelarena.spec.catalogue import kernels_of, load_tasks, matching, shipped_kernels
from kernelarena.spec.kernels import load_kernels
from kernelarena.spec.places import Place, look

DEFAULT = "quickstart"
"""The shipped configuration that fills in what a user leaves open."""


@dataclass(frozen=True)
class Plan:
    """Everything that a run judges."""

    platforms: dict[str, Platform]
    tasks: dict[str, TaskSource]
    """Those that the kernels name."""
    kernels: list[Kernel]
    left_out: list[str]
    remarks: list[str]
    """What the user may have meant otherwise, a line each."""


def make(
    config: Sweep, *, task: str | None = None, platforms_dirs: Iterable[Path] = (), tasks_dirs: Iterable[Path] = ()
) -> Plan:
    """Read what ``config`` names.

    Parameters
    ----------
    config
        What to run.
    task
        The task of single source files.
    platforms_dirs, tasks_dirs
        Further folders to look in.

    Raises
    ------
    InputError
        If anything that it names is unknown or malformed, or nothing is left to judge.
    """
    known = catalogue.load(platforms_dirs)
    platforms = catalogue.resolve(config.platforms or read_config(DEFAULT).platforms, known)
    tasks = load_tasks(tasks_dirs)
    chosen = set(matching(config.tasks, tasks))
    offered = shipped_kernels() if config.tasks else read_config(DEFAULT).kernels
    kernels, left_out = load_kernels(
        config.kernels or offered, tasks=tasks.keys(), task=task, keep_going=config.keep_going
    )
    kernels = [_at_home(kernel, known) for kernel in kernels if kernel.task in chosen]
    if not kernels:
        raise InputError(f"none of the kernels is for the tasks {', '.join(config.tasks)}; see kab-mc tasks list")
    named = {kernel.task for kernel in kernels}
    judged = {key: tasks[key] for key in tasks if key in named}
    if config.timing.enabled and config.timing.baseline is Baseline.SHIPPED:
        judged = {key: _with_kernels(source) for key, source in judged.items()}
    return Plan(
        platforms={platform.id: platform for platform in platforms},
        tasks=judged,
        kernels=kernels,
        left_out=left_out,
        remarks=_strange_homes(kernels, known),
    )


def _with_kernels(source: TaskSource) -> TaskSource:
    """Put the kernels that come with a task into it, so that the judge of another host has them too."""
    folders = kernels_of(source)
    if not folders:
        return source
    kernels, _ = load_kernels(folders, tasks=[source.task.id])
    return source.model_copy(update={"kernels": tuple(kernels)})


def _strange_homes(kernels: Iterable[Kernel], known: Mapping[str, Platform]) -> list[str]:
    """Name homes that no platform file declares: it may be a typing mistake, or a chip that nobody declared yet."""
    homes: dict[str, list[str]] = {}
    for kernel in kernels:
        if kernel.home is not None and kernel.home not in known:
            homes.setdefault(kernel.home, []).append(kernel.origin)
    return [
        f"home '{home}' of {origins[0]}"
        + (f" and {len(origins) - 1} more" if len(origins) > 1 else "")
        + f" is no known platform ({nearest(home, known)}); nothing will be said of carrying it from there"
        for home, origins in homes.items()
    ]


def read_config(name: str) -> Sweep:
    """Read a configuration: a file, or one by name from the ``configs`` folders (``quickstart``).

    Relative kernel paths in it start from its own folder.

    Raises
    ------
    InputError
        If there is no such file, or it does not fit.
    """
    path = Path(name)
    place = look(path)
    if place is not Place.FILE:
        found = {file.stem: file for folder in paths.folders("configs") for file in sorted(folder.glob("*.yaml"))}
        if name not in found:
            if place is not Place.NOTHING:
                raise InputError(f"{path}: is {place}, where a configuration file is expected")
            if path.suffix in (".yaml", ".yml") or os.sep in name:
                raise InputError(f"{path}: no such file")
            raise InputError(f"--config: no file and no shipped configuration '{name}'; {nearest(name, found)}")
        path = found[name]
    config = yamlfile.read(path, Sweep)
    kernels = tuple(os.path.normpath(path.parent / kernel) for kernel in config.kernels)
    return config.model_copy(update={"kernels": kernels})


def describe(kernels: int, available: Mapping[str, Availability], require: Evidence | None) -> list[str]:
    """Put into words what is going to be judged, and on what evidence.

    Parameters
    ----------
    kernels
        How many.
    available
        What can be had of each platform, by id, in order.
    require
        The evidence that the run insists on.

    Returns
    -------
    list of str
        A sentence, and a line for each platform of which nothing can be had.
    """
    by_evidence: dict[str, list[str]] = {}
    lines = []
    for name, availability in available.items():
        lacking = require is not None and require not in availability.evidence
        if lacking or not availability.evidence:
            lines.append(f"{name} cannot be judged here: {availability.why_not or f'no {require} evidence'}")
        else:
            by_evidence.setdefault(availability.evidence[0], []).append(name)
    cells = kernels * len(available)
    how = "; ".join(f"{', '.join(names)} {evidence}" for evidence, names in by_evidence.items())
    counts = f"{count(kernels, 'kernel')} × {count(len(available), 'platform')} = {count(cells, 'cell')}"
    return [f"{counts}{': ' if how else ''}{how}", *lines]


def count(number: int, noun: str) -> str:
    """Return ``1 cell`` or ``2 cells``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _at_home(kernel: Kernel, known: Mapping[str, Platform]) -> Kernel:
    """Put the id in place of an alias. A home that is not known stays: it may be a chip that nobody declared yet."""
    words: Sequence[Platform] = [platform for platform in known.values() if kernel.home in platform.aliases]
    return kernel.model_copy(update={"home": words[0].id}) if words else kernel
