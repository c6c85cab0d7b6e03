"""``kab-mc platforms describe``: a platform file for a device that none describes."""

from __future__ import annotations

from pathlib import Path

import click

from kernelarena.cli.options import PATH, WORDS
from kernelarena.cli.output import STDOUT, deliver
from kernelarena.cli.platforms.options import folders
from kernelarena.errors import InfraError, InputError, nearest, quoted
from kernelarena.platforms.backend import backend_names
from kernelarena.platforms.catalogue import load
from kernelarena.platforms.doctor.examination import look_at
from kernelarena.platforms.draft import draft
from kernelarena.platforms.unmatched import Found, found


@click.command()
@click.option(
    "--device",
    type=click.IntRange(0),
    metavar="N",
    help="Its number, as the runtime counts. Default: the only one that no file describes.",
)
@click.option("--backend", type=WORDS, metavar="NAME", help="The backend that finds it, where several find devices.")
@click.option(
    "-o", "--output", type=PATH, default=STDOUT, metavar="FILE", help="Where to write it. Default: standard output."
)
@folders
def describe(device: int | None, backend: str | None, output: Path, folders: tuple[Path, ...]) -> None:
    """Write a platform file for a device of this host that none describes, from what its runtime tells.

    The file loads as it is; bandwidth and peak rates are left out, because nobody has measured them. Put it in a folder
    that --platforms-dir or KERNELARENA_PATH names, under the name of its id.

    \b
    Example:
        kab-mc platforms describe --device 0 -o lab/platforms/rtx-a6000.yaml
    """  # noqa: D301
    if backend is not None and backend not in (names := backend_names()):
        raise InputError(f"--backend {quoted(backend)}: there is no backend of that name; {nearest(backend, names)}")
    known = load(folders)
    chosen = _chosen(found(known.values()), device, backend)
    if chosen.platform is not None:
        raise InputError(
            f"device {chosen.device.index} ({chosen.device.name}) is {chosen.platform.id} already: "
            f"kab-mc platforms show {chosen.platform.id}"
        )
    words = frozenset(word.casefold() for platform in known.values() for word in (platform.id, *platform.aliases))
    ((_, _, told),) = look_at(chosen.backend, [chosen.device])
    if "problem" in told:
        raise InfraError(f"device {chosen.device.index} ({chosen.device.name}) cannot be asked: {told['problem']}")
    deliver(draft(chosen.backend, chosen.device, told, words), output)


def _chosen(devices: list[Found], number: int | None, backend: str | None) -> Found:
    """Return the device that is meant.

    Raises
    ------
    InputError
        If there is none such, or several.
    InfraError
        If this host has no device at all.
    """
    if not devices:
        raise InfraError("no backend finds a device on this host; kab-mc platforms doctor says why")
    wanted = [each for each in devices if backend in (None, each.backend.name)]
    if number is None:
        wanted = [each for each in wanted if each.platform is None]
    else:
        wanted = [each for each in wanted if each.device.index == number]
    if len(wanted) == 1:
        return wanted[0]
    listed = "; ".join(
        f"--backend {each.backend.name} --device {each.device.index} is {each.device.name}"
        + (f" ({each.platform.id})" if each.platform else "")
        for each in wanted or devices
    )
    if wanted:
        raise InputError(f"several devices could be meant: {listed}")
    raise InputError(f"there is no such device that no platform file describes: {listed}")
