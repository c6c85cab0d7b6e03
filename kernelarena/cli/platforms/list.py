"""``kab-mc platforms list``: one line a platform, and the devices that are none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kernelarena.cli.page import console, pairs, print_json
from kernelarena.cli.platforms.options import as_json, folders
from kernelarena.cli.streams import say
from kernelarena.platforms.backend import Availability, availability
from kernelarena.platforms.catalogue import load
from kernelarena.platforms.unmatched import Found, remedy, unmatched
from kernelarena.spec import Platform


@click.command("list")
@folders
@as_json
def list_(folders: tuple[Path, ...], as_json: bool) -> None:
    """List every platform: what evidence can be had of it here and now, and why not more.

    Devices of this host that no platform file describes are named behind it.

    \b
    Example:
        kab-mc platforms list --platforms-dir lab/platforms
    """  # noqa: D301
    known = [(platform, availability(platform)) for platform in load(folders).values()]
    strangers = unmatched(platform for platform, _ in known)
    if as_json:
        print_json([summary(platform, found) for platform, found in known])
        for stranger in strangers:
            say(f"{_named(stranger)}: {remedy(stranger.backend, stranger.device)}")
        return
    console().print(_overview(known, strangers))


def summary(platform: Platform, found: Availability) -> dict[str, Any]:
    """Return what the list says of a platform, as data."""
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


def _overview(known: list[tuple[Platform, Availability]], strangers: Sequence[Found]) -> Group:
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
    if strangers:
        parts += ["", Text("devices that no platform file describes", style="bold")]
        for stranger in strangers:
            words = f"{_named(stranger)}\n→ {remedy(stranger.backend, stranger.device)}"
            parts += [Padding(Text(words), (0, 0, 0, 2))]
    return Group(*parts)


def _named(stranger: Found) -> str:
    device = stranger.device
    return f"{device.name} ({device.arch or stranger.backend.name})"
