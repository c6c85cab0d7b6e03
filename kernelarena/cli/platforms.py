"""``kab-mc platforms``: which chips are known, what can be found out about each here, and every figure of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kernelarena.cli.options import PATH, WORDS
from kernelarena.cli.page import binary, console, pairs, print_json, si
from kernelarena.cli.usage import Commands
from kernelarena.errors import InputError
from kernelarena.platforms.backend import Availability, availability
from kernelarena.platforms.catalogue import load, resolve
from kernelarena.spec import Platform

_folders = click.option(
    "--platforms-dir",
    "folders",
    multiple=True,
    type=PATH,
    help="A folder of platform files to read as well; may be repeated.",
)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.group(cls=Commands)
def platforms() -> None:
    """List the known chips, or show every figure of one.

    \b
    Example:
        kab-mc platforms list
        kab-mc platforms show mi300
    """  # noqa: D301  (\b is click's, and a raw docstring would lose it)


@platforms.command("list")
@_folders
@_as_json
def list_(folders: tuple[Path, ...], as_json: bool) -> None:
    """List every platform: what evidence can be had of it here and now, and why not more.

    \b
    Example:
        kab-mc platforms list --platforms-dir lab/platforms
    """  # noqa: D301
    known = [(platform, availability(platform)) for platform in load(folders).values()]
    if as_json:
        print_json([_summary(platform, found) for platform, found in known])
        return
    console().print(_overview(known))


@platforms.command()
@click.argument("name", metavar="ID", type=WORDS)
@_folders
@_as_json
def show(name: str, folders: tuple[Path, ...], as_json: bool) -> None:
    """Show every figure of one platform, and where each comes from. ID may be an alias.

    \b
    Example:
        kab-mc platforms show mi300x --json
    """  # noqa: D301
    named = resolve([name], load(folders))
    if len(named) > 1:
        raise InputError(f"'{name}' names {len(named)} platforms: show takes one at a time")
    platform, found = named[0], availability(named[0])
    if as_json:
        print_json({**platform.model_dump(mode="json", exclude_none=True), **_summary(platform, found)})
        return
    console().print(_page(platform, found))


def _summary(platform: Platform, found: Availability) -> dict[str, Any]:
    return {
        "id": platform.id,
        "title": platform.title,
        "vendor": platform.vendor,
        "backend": platform.backend,
        "arch": platform.arch,
        "aliases": list(platform.aliases),
        "evidence": [evidence.value for evidence in found.evidence],
        "why_not": found.why_not,
    }


def _overview(known: list[tuple[Platform, Availability]]) -> Group:
    """One line a platform; why not more is said once below for all that share it, so that 80 columns are enough."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    longest = max(len(platform.id) for platform, _ in known)
    table.add_column("id", no_wrap=True, min_width=longest, style="bold")  # what one has to type is never cut short
    table.add_column("title", overflow="fold")
    table.add_column("vendor", no_wrap=True)
    table.add_column("arch", no_wrap=True)
    table.add_column("evidence", no_wrap=True)
    table.add_column("", no_wrap=True)
    marks: dict[str, str] = {}
    for platform, found in known:
        mark = marks.setdefault(found.why_not, f"[{len(marks) + 1}]") if found.why_not else ""
        evidence = ", ".join(found.evidence) or "none"
        table.add_row(*map(Text, (platform.id, platform.title, platform.vendor, platform.arch, evidence, mark)))
    parts: list[Any] = [table]
    if marks:
        parts += ["", Text("why not more", style="bold"), pairs((mark, why) for why, mark in marks.items())]
    return Group(*parts)


def _page(platform: Platform, found: Availability) -> Group:
    """Everything that the file says, in the order in which one reads it."""
    evidence = ", ".join(found.evidence) or "none"
    facts = {
        "aliases": ", ".join(platform.aliases),
        "vendor": platform.vendor,
        "backend": platform.backend,
        "arch": platform.arch,
        "evidence here": evidence + (f" ({found.why_not})" if found.why_not else ""),
        "detected by": _detection(platform),
        "Ray": ", ".join(filter(None, (platform.ray.accelerator_type, platform.ray.resource))),
        "persona of": platform.persona or "",
    }
    parts: list[Any] = [Text(f"{platform.id}: {platform.title}", style="bold"), pairs(facts.items())]
    for title, rows in _figures(platform):
        parts += ["", Text(title, style="bold"), pairs(rows)]
    parts += ["", Text("sources", style="bold")]
    for source in platform.source:
        section = f", {source.section}" if source.section else ""
        backs = ", ".join(source.figures) or "what no other source names"
        parts.append(Padding(Text(f"{source.title}{section}: {backs}"), (0, 0, 0, 2)))
    if platform.notes:
        parts += ["", Text("notes", style="bold"), Padding(Text(platform.notes), (0, 0, 0, 2))]
    return Group(*parts)


def _detection(platform: Platform) -> str:
    detect = platform.detect
    words = " or ".join(f"'{name}'" for name in detect.names)
    unless = " unless " + " or ".join(f"'{name}'" for name in detect.unless) if detect.unless else ""
    return ", ".join(filter(None, (f"name with {words}{unless}" if words else "", detect.arch)))


def _figures(platform: Platform) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each group of figures that the file gives, with its units."""
    if limits := platform.limits:
        yield (
            "limits of a launch",
            [
                ("warp size", f"{limits.warp_size} lanes"),
                ("threads per block", f"{limits.max_threads_per_block}"),
                ("shared memory per block", binary(limits.shared_memory_per_block)),
                ("registers per thread", f"{limits.registers_per_thread} x 32 bit"),
            ],
        )
    if occupancy := platform.occupancy:
        yield (
            "occupancy",
            [
                ("multiprocessors", f"{occupancy.multiprocessors}"),
                ("partitions of each", f"{occupancy.partitions}"),
                ("resident warps", f"{occupancy.max_warps} per multiprocessor"),
                ("resident blocks", f"{occupancy.max_blocks} per multiprocessor"),
                (
                    "registers",
                    f"{occupancy.registers} x 32 bit per multiprocessor, "
                    f"in steps of {occupancy.register_granularity} per thread",
                ),
                (
                    "shared memory",
                    f"{binary(occupancy.shared_memory)} per multiprocessor, "
                    f"in steps of {binary(occupancy.shared_memory_granularity)}",
                ),
                ("reserved of it", f"{binary(occupancy.shared_memory_reserved)} per block"),
            ],
        )
    if memory := platform.memory:
        yield (
            "memory",
            [
                ("capacity", binary(memory.bytes)),
                ("bandwidth", f"{si(memory.bandwidth)}B/s" if memory.bandwidth else ""),
                ("last-level cache", binary(memory.cache_bytes) if memory.cache_bytes else ""),
            ],
        )
    if platform.peak_flops:
        rows = [(dtype, f"{si(peak)}{_operation(dtype)}/s") for dtype, peak in platform.peak_flops.items()]
        yield "dense peak", rows
    if platform.dtypes:
        yield "native flavour of", list(platform.dtypes.items())
    if budget := platform.budget:
        yield (
            "budget of one emulated trial",
            [("elements", f"{budget.elements}"), ("operations", f"{si(budget.flops)}FLOP")],
        )


def _operation(dtype: str) -> str:
    return "OP" if dtype.startswith(("int", "uint")) else "FLOP"
