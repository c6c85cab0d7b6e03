"""``kab-mc platforms show``: every figure of one platform, with its unit and its source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from kernelarena.cli.options import WORDS
from kernelarena.cli.page import binary, console, pairs, print_json, si
from kernelarena.cli.platforms.list import summary
from kernelarena.cli.platforms.options import as_json, folders
from kernelarena.errors import InputError
from kernelarena.platforms.backend import Availability, availability, backend_for
from kernelarena.platforms.catalogue import load, resolve
from kernelarena.spec import Platform


@click.command()
@click.argument("name", metavar="ID", type=WORDS)
@folders
@as_json
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
        emulator = {"emulator": groups} if (groups := _emulated(platform)) else {}
        print_json({**platform.model_dump(mode="json", exclude_none=True), **summary(platform, found), **emulator})
        return
    console().print(_page(platform, found))


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
    for title, rows in (*_figures(platform), *_emulator(platform)):
        parts += ["", Text(title, style="bold"), pairs(rows)]
    parts += ["", Text("sources", style="bold")]
    for source in platform.source:
        section = f", {source.section}" if source.section else ""
        backs = ", ".join(source.figures) or "what no other source names"
        parts.append(Padding(Text(f"{source.title}{section}: {backs}"), (0, 0, 0, 2)))
    if platform.notes:
        parts += ["", Text("notes", style="bold"), Padding(Text(platform.notes), (0, 0, 0, 2))]
    return Group(*parts)


def _emulator(platform: Platform) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Count what is known of the chip's code, where it is run without the chip."""
    if groups := _emulated(platform):
        rows = [(group, f"{len(names)} instructions") for group, names in groups.items()]
        yield "modelled by the emulator (docs/emulation.md)", rows


def _emulated(platform: Platform) -> dict[str, tuple[str, ...]]:
    backend = backend_for(platform)
    return {} if backend is None else backend.emulated(platform)


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
