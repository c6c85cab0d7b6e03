"""``--format`` and ``--output``: where a document goes, and in which form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernelarena.cli.streams import emit
from kernelarena.errors import InputError
from kernelarena.spec import textfile
from kernelarena.spec.places import Place, look, refusal

STDOUT = Path("-")


def form(given: str | None, output: Path | None, forms: Sequence[str]) -> str | None:
    """Return the form that is asked for, by ``--format`` or by the suffix of ``--output``; None where neither is given.

    Raises
    ------
    InputError
        If ``--output`` alone is given and its suffix says nothing.
    """
    if given is not None or output is None:
        return given
    suffix = output.suffix.lstrip(".")
    if suffix not in forms:
        raise InputError(f"--output {output}: does not say which form; add --format {'|'.join(forms)}")
    return suffix


def deliver(text: str, output: Path) -> None:
    """Put the text where the user wants it: on standard output, in the place of a file, or through a pipe or a device.

    Raises
    ------
    InputError, InfraError
        If it cannot be written there.
    """
    if output == STDOUT:
        emit(text)
        return
    place = look(output)
    if place is Place.FOLDER:
        raise InputError(f"--output {output}: is a folder; name a file in it")
    try:
        if place is Place.OTHER:
            output.write_text(text, encoding="utf-8", errors="replace")
        else:
            textfile.replace(output, text)
    except OSError as error:
        raise refusal(output, error, "cannot be written") from None
