"""``kab-mc tasks``: which operators are known, and everything that a kernel for one of them has to meet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kernelarena.cli import options
from kernelarena.cli.new_task import new
from kernelarena.cli.page import binary, console, duration, pairs, print_json, si
from kernelarena.cli.usage import Commands
from kernelarena.cli.verify import verify
from kernelarena.errors import InputError, nearest
from kernelarena.platforms import catalogue
from kernelarena.spec import Platform, Shape, Task, TaskSource
from kernelarena.spec.catalogue import kernel_name, kernels_of, load_tasks, select
from kernelarena.spec.law import Law
from kernelarena.spec.roofline import Roof, roofline
from kernelarena.spec.task import Aspect

_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.group(cls=Commands)
def tasks() -> None:
    """List the operators that kernels are judged on, show one, or verify that its checker can be trusted.

    \b
    Example:
        kab-mc tasks list --suite llm
        kab-mc tasks show softmax
        kab-mc tasks verify softmax
    """  # noqa: D301  (\b is click's, and a raw docstring would lose it)


@tasks.command("list")
@click.option("--suite", metavar="NAME", help="Only the tasks of this suite.")
@options.folders("tasks")
@_as_json
def list_(suite: str | None, tasks_dirs: tuple[Path, ...], as_json: bool) -> None:
    """List every task by id: what it takes, how many shapes it has, and how many kernels lie beside it.

    \b
    Example:
        kab-mc tasks list --tasks-dir lab/tasks --json
    """  # noqa: D301
    chosen = sorted(
        select([f"suite:{suite}"] if suite else [], load_tasks(tasks_dirs)), key=lambda source: source.task.id
    )
    if as_json:
        print_json([_summary(source) for source in chosen])
        return
    console().print(_overview(chosen))


@tasks.command()
@click.argument("name", metavar="ID")
@click.option("--dtype", metavar="NAME", help="The dtype to count work and time for. Default: the task's first.")
@click.option("--reference", "as_python", is_flag=True, help="Print how inputs are drawn and what is right, as Python.")
@options.extra_folders
@_as_json
def show(
    name: str,
    dtype: str | None,
    as_python: bool,
    platforms_dirs: tuple[Path, ...],
    tasks_dirs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Show one task: signature, dims, shapes, the work that each takes, and the least time for it on each chip.

    \b
    Example:
        kab-mc tasks show matmul --dtype bfloat16
        kab-mc tasks show acosh --reference
    """  # noqa: D301
    known = load_tasks(tasks_dirs)
    if name not in known:
        raise InputError(f"unknown task '{name}'; {nearest(name, known)}")
    source = known[name]
    if dtype is not None and dtype not in source.task.dtypes:
        raise InputError(f"{name} has no dtype '{dtype}'; {nearest(dtype, source.task.dtypes)}")
    if as_python:
        click.echo(source.reference, nl=False)
        return
    platforms = catalogue.load(platforms_dirs).values()
    chips = [platform for platform in platforms if not _lacking(platform)]
    if as_json:
        print_json(_everything(source, [dtype] if dtype else source.task.dtypes, chips))
        return
    console().print(_page(source, dtype or source.task.dtypes[0], platforms))


def _summary(source: TaskSource) -> dict[str, Any]:
    task = source.task
    return {
        "id": task.id,
        "title": task.title,
        "kind": task.kind.value,
        "dtypes": list(task.dtypes),
        "visible": len(task.visible),
        "production": len(task.production),
        "kernels": len(kernels_of(source)),
        "suites": list(task.suites),
        "source": task.source.model_dump(),
        "origin": source.origin,
    }


def _everything(source: TaskSource, dtypes: Iterable[str], chips: Sequence[Platform]) -> dict[str, Any]:
    task = source.task
    shapes = [
        {
            "group": group,
            "dims": dims,
            "dtype": dtype,
            "flops": task.flops(shape),
            "bytes": task.bytes(shape),
            "roofline": {
                chip.id: {"seconds": bound.seconds, "roof": bound.roof.value}
                for chip in chips
                if (bound := roofline(task, shape, chip)) is not None
            },
        }
        for dtype in dtypes
        for group, members in _groups(task)
        for dims in members
        for shape in [Shape(dims=dims, dtype=dtype)]
    ]
    kernels = [str(folder) for folder in kernels_of(source)]
    return {**task.model_dump(mode="json"), "origin": source.origin, "kernels": kernels, "shapes": shapes}


def _groups(task: Task) -> Iterator[tuple[str, tuple[dict[str, int], ...]]]:
    yield "visible", task.visible
    if task.production:
        yield "production", task.production


def _overview(chosen: list[TaskSource]) -> Group:
    """One line a task, in 80 columns; dtypes, of which some tasks have many, are told by ``show`` and JSON."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("id", no_wrap=True, style="bold")  # what one has to type is never cut short
    table.add_column("kind", overflow="fold")
    table.add_column("shapes", no_wrap=True)
    table.add_column("kernels", justify="right", no_wrap=True)
    table.add_column("suites", overflow="fold")
    for source in chosen:
        task = source.task
        shapes = f"{len(task.visible)} + {len(task.production)}"
        cells = (task.id, task.kind.value, shapes, str(len(kernels_of(source))), " ".join(task.suites))
        table.add_row(*map(Text, cells))
    named = {name for source in chosen for name in source.task.suites}
    legend = ["shapes: visible + production"]
    legend += [f"suite {name}: {text}" for name, text in SUITES.items() if name in named]
    return Group(table, "", *(Text(line, style="dim") for line in legend))


SUITES = {
    "mc": "the multi-chip view, KernelGenBench's operators",
    "ms": "ATen operators",
    "llm": "transformer serving",
}
"""What the suites of the shipped tasks are; a task may name others."""


def _page(source: TaskSource, dtype: str, platforms: Collection[Platform]) -> Group:
    task = source.task
    chips = [platform for platform in platforms if not _lacking(platform)]
    about = {
        "signature": task.signature,
        "in place": task.in_place or "",
        "law": "" if task.law is None else f"{task.law.name}: " + _parameters(task.law),
        "judged by": "" if task.contract == (Aspect.VALUES,) else " and ".join(task.contract),
        "kind": task.kind.value,
        "known as": f"{task.source.name} ({task.source.suite})",
        "suites": ", ".join(f"{name} ({SUITES[name]})" if name in SUITES else name for name in task.suites),
        "dtypes": ", ".join(task.dtypes),
        "distributions": ", ".join(task.distributions),
        "layouts": ", ".join(task.layouts),
        "reduced precision": "allowed" if task.allow_reduced_precision else "not allowed",
        "left to framework": ", ".join(task.framework),
        "flops": task.work.flops,
        "bytes": task.work.bytes,
        "kernels": ", ".join(map(kernel_name, kernels_of(source))) or "none",
        "folder": source.origin,
    }
    parts: list[Any] = [Text(f"{task.id}: {task.title}", style="bold"), pairs(about.items())]
    parts += ["", Text("dims", style="bold"), pairs(_dims(task))]
    number = 1
    for group, members in _groups(task):
        shapes = {number + index: Shape(dims=dims, dtype=dtype) for index, dims in enumerate(members)}
        number += len(shapes)
        parts += ["", Text(f"{group} shapes, {dtype}", style="bold"), _work(task, shapes)]
        parts += ["", Text(f"least time, {group} shapes, {dtype}", style="bold"), _times(task, shapes, chips)]
    parts += ["", *(Padding(Text(line), (0, 0, 0, 2)) for line in (_LEGEND, *_left_out(platforms)))]
    return Group(*parts)


_LEGEND = (
    "least time: the roofline, the larger of bytes / bandwidth and (marked *) flops / dense peak; not a measurement."
)


def _lacking(platform: Platform) -> str:
    """Return which figures of a roofline the platform's file does not give, in words; none where it has one."""
    figures = {
        "bandwidth": platform.memory is not None and platform.memory.bandwidth is not None,
        "rates": bool(platform.peak_flops),
    }
    return " and ".join(f"no {name}" for name, known in figures.items() if not known)


def _left_out(platforms: Iterable[Platform]) -> Iterator[str]:
    """Say of which platforms there is no least time, and for want of what."""
    names: dict[str, list[str]] = {}
    for platform in platforms:
        names.setdefault(_lacking(platform), []).append(platform.id)
    return (f"not shown, {lacking} known: {', '.join(ids)}" for lacking, ids in names.items() if lacking)


def _parameters(law: Law) -> str:
    return ", ".join(f"{name} {value}" for name, value in law.parameters.items())


def _dims(task: Task) -> Iterator[tuple[str, str]]:
    for name, dim in task.dims.items():
        multiple = f", multiples of {dim.multiple_of}" if dim.multiple_of > 1 else ""
        some = ", ".join(map(str, dim.choices))
        yield name, some or f"{dim.min} to {dim.max}{multiple}"
    if task.constraints:
        yield "where", "; ".join(task.constraints)


def _work(task: Task, shapes: dict[int, Shape]) -> Padding:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("#", "dims", "work", "traffic", "FLOP/B"):
        table.add_column(heading, justify="left" if heading == "dims" else "right", no_wrap=heading != "dims")
    for number, shape in shapes.items():
        flops, moved = task.flops(shape), task.bytes(shape)
        dims = " ".join(f"{name}={size}" for name, size in shape.dims.items())
        intensity = f"{flops / moved:.3g}" if moved else ""
        table.add_row(*map(Text, (str(number), dims, f"{si(flops, 3)}FLOP", binary(round(moved)), intensity)))
    return Padding(table, (0, 0, 0, 2))


def _times(task: Task, shapes: dict[int, Shape], chips: Sequence[Platform]) -> Padding:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("platform", no_wrap=True)
    for number in shapes:
        table.add_column(f"#{number}", justify="right", no_wrap=True)
    for chip in chips:
        bounds = [roofline(task, shape, chip) for shape in shapes.values()]
        cells = (
            "" if bound is None else duration(bound.seconds) + ("*" if bound.roof is Roof.COMPUTE else " ")
            for bound in bounds
        )
        table.add_row(Text(chip.id), *map(Text, cells))
    return Padding(table, (0, 0, 0, 2))


tasks.add_command(verify)
tasks.add_command(new)
