"""``--format`` and ``--output``: where a document goes, and in which form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from kernelarena.cli.streams import emit
from kernelarena.errors import InputError
from kernelarena.spec import textfile
from kernelarena.spec.places import Place, look, refusal

STDOUT = Path("-")


def form(given: str | None, output: Path | None, suffixes: Mapping[str, str]) -> str | None:
    """Return the form that is asked for, by ``--format`` or by the suffix of ``--output``; None where neither is given.

    Parameters
    ----------
    given, output
        What the user wrote.
    suffixes
        The form that each suffix stands for.

    Raises
    ------
    InputError
        If ``--output`` alone is given and its suffix says nothing.
    """
    if given is not None or output is None:
        return given
    suffix = output.suffix.lstrip(".")
    if suffix not in suffixes:
        known = "|".join(dict.fromkeys(suffixes.values()))
        raise InputError(f"--output {output}: does not say which form; add --format {known}")
    return suffixes[suffix]


def deliver(text: str | bytes, output: Path) -> None:
    """Put a document where it is wanted: on standard output, in the place of a file, through a pipe or a device.

    Raises
    ------
    InputError, InfraError
        If it cannot be written there.
    """
    if output == STDOUT:
        if isinstance(text, bytes):
            click.echo(text, nl=False)
        else:
            emit(text)
        return
    place = look(output)
    if place is Place.FOLDER:
        raise InputError(f"--output {output}: is a folder; name a file in it")
    try:
        if place is Place.OTHER:
            output.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
        else:
            textfile.replace(output, text)
    except OSError as error:
        raise refusal(output, error, "cannot be written") from None
