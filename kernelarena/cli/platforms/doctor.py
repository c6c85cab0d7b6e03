"""``kab-mc platforms doctor``: what this host has for measuring, what it lacks, and what to install."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kernelarena.cli.options import WORDS
from kernelarena.cli.page import console, print_json
from kernelarena.cli.platforms.options import as_json, folders
from kernelarena.errors import InfraError
from kernelarena.judge.enclosure.diagnosis import isolation
from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.catalogue import load, resolve
from kernelarena.platforms.doctor import SCHEMA, Diagnosis, Finding, State, concerned, examine
from kernelarena.platforms.doctor.finding import PlatformReport
from kernelarena.spec import Platform

_MARKS: Mapping[State, tuple[str, str]] = {
    State.OK: ("✓", "green"),
    State.WARNING: ("!", "yellow"),
    State.MISSING: ("✗", "red"),
}


@click.command()
@click.argument("names", metavar="[ID]...", nargs=-1, type=WORDS)
@folders
@as_json
def doctor(names: tuple[str, ...], folders: tuple[Path, ...], as_json: bool) -> int:
    """Say what measuring on each platform needs, what of it is here, and what to do about the rest.

    Without an ID, all platforms whose driver is on this host are looked at; where there is none, all. Exit code 3 where
    a platform that is named cannot be measured here (one that is only ever emulated: cannot be emulated).

    \b
    Example:
        kab-mc platforms doctor
        kab-mc platforms doctor mi300 --json
    """  # noqa: D301
    known = load(folders)
    chosen = resolve(names, known) if names else concerned(known)
    diagnosis = examine(chosen, known, isolation(_nodes(chosen)), _say)
    if as_json:
        print_json({"schema": SCHEMA, **diagnosis.model_dump(mode="json")})
    else:
        console().print(_page(diagnosis))
    lacking = [each for each in diagnosis.platforms if not each.available] if names else []
    return InfraError.exit_code if lacking else 0


def _nodes(chosen: Iterable[Platform]) -> Iterator[str]:
    """Return what kernels need to be shown of the host, so that layers are tried as they will be used."""
    for platform in chosen:
        if (backend := backend_for(platform)) is not None:
            for device in backend.present(platform):
                with contextlib.suppress(RuntimeError):  # variables that hide it: said where the device is examined
                    yield from backend.access(device).paths


def _say(what: str) -> None:
    """Tell whoever waits at a terminal what takes so long."""
    if sys.stderr.isatty():
        click.echo(f"looking at {what} …", err=True)


def _page(diagnosis: Diagnosis) -> Group:
    parts: list[Any] = _section("this host", diagnosis.host)
    for runtime in diagnosis.runtimes:
        parts += _section(f"{runtime.backend} ({', '.join(runtime.platforms)})", runtime.findings)
        for device in diagnosis.devices:
            if device.backend == runtime.backend:
                parts += _section(f"{runtime.backend} device {device.index}: {device.name}", device.findings)
    parts.append(Text("platforms", style="bold"))
    parts.append(_table((*_concluded(platform), platform.why_not) for platform in diagnosis.platforms))
    return Group(*parts)


def _section(title: str, findings: Iterable[Finding]) -> list[Any]:
    rows = [(_mark(each.state), each.check, _told(each)) for each in findings]
    return [Text(title, style="bold"), _table(rows), ""] if rows else []


def _table(rows: Iterable[tuple[Text, str, str | Text]]) -> Padding:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for mark, name, words in rows:
        table.add_row(mark, Text(name), words if isinstance(words, Text) else Text(words))
    return Padding(table, (0, 0, 0, 2))


def _mark(state: State) -> Text:
    sign, style = _MARKS[state]
    return Text(sign, style=style)


def _told(finding: Finding) -> Text:
    words = Text(finding.found)
    if finding.remedy:
        words.append(f"\n→ {finding.remedy}", style="dim")
    return words


def _concluded(platform: PlatformReport) -> tuple[Text, str]:
    state = State.OK if platform.available else State.WARNING if platform.evidence else State.MISSING
    return _mark(state), f"{platform.id}: {', '.join(platform.evidence) or 'none'}"
