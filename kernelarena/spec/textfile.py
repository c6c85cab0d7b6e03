"""Reading text that people wrote, and replacing a text file so that it is never seen half-written."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable
from pathlib import Path

from kernelarena.errors import InputError
from kernelarena.spec.places import Place, look, refusal


def read(path: Path, *, limit: int, missing: str = "no such file") -> str:
    """Return the text of a file: UTF-8, with or without a byte order mark, line ends as they are.

    Parameters
    ----------
    path
        The file.
    limit
        Bytes that it may have.
    missing
        What to say where there is none.

    Raises
    ------
    InputError
        If it is no regular file, too large, not UTF-8 text, or may not be read.
    """
    place = look(path)
    if place is Place.NOTHING:
        raise InputError(f"{path}: {missing}")
    if place is not Place.FILE:
        raise InputError(f"{path}: is {place}, where a file is expected")
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise refusal(path, error) from None
    if len(data) > limit:
        size = f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit >> 10} KiB"
        raise InputError(f"{path}: larger than {size}")
    return decode(data, str(path))


def decode(data: bytes, where: str) -> str:
    """Return UTF-8 text, without its byte order mark; ``where`` is what messages call it.

    Raises
    ------
    InputError
        If it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        hint = "it is UTF-16; save it as UTF-8" if utf16 else f"byte {error.start}"
        raise InputError(f"{where}: not UTF-8 text ({hint})") from None


def replace(path: Path, text: str | bytes | Iterable[str]) -> None:
    """Replace ``path`` so that a reader sees the old text or the new, whatever happens in between.

    Bytes are written as they are, for the few files that are no text; a text that is too large to be held twice comes
    in pieces.

    Raises
    ------
    OSError
        If it cannot be written; the old file is untouched then.
    """
    draft = path.with_name(draft_name(path))
    try:
        with draft.open("wb") as file:
            for piece in [text] if isinstance(text, str | bytes) else text:
                file.write(piece if isinstance(piece, bytes) else bytes(piece, "utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def draft_name(path: Path) -> str:
    """Return a name beside ``path`` for what shall replace it: no other process uses it, and it is never too long."""
    return f".{path.name[:40]}.{os.getpid()}.new"
