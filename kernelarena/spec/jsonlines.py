"""Reading JSON Lines: the lines of a file, however long, and what one of them declares."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from kernelarena.errors import InputError
from kernelarena.spec import yamlfile
from kernelarena.spec.kernel import KernelFile
from kernelarena.spec.places import refusal
from kernelarena.spec.plaindata import flaw
from kernelarena.spec.textfile import decode

MAX_LINE = 8 << 20
"""Bytes of one line: the sources of a kernel, with room for escapes and provenance."""


def lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines that are not blank, numbered from 1; None in place of one longer than `MAX_LINE`.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                        pass
                    yield number, None
                elif line.strip():
                    yield number, line
    except OSError as error:
        raise refusal(path, error) from None


def parse(where: str, line: bytes | None) -> KernelFile:
    """Return what a line declares.

    Parameters
    ----------
    where
        ``file.jsonl:17``, for messages.
    line
        As `lines` yields it.

    Raises
    ------
    InputError
        If it is not one JSON object, holds a key twice, or does not fit the model: a line for each thing that does not.
    """
    if line is None:
        raise InputError(f"{where}: the line is longer than {MAX_LINE >> 20} MiB")
    text = decode(line, where).strip()
    try:
        data = json.loads(text, object_pairs_hook=_each_key_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where}: not valid JSON: {error.msg} (column {error.colno}); each line is one JSON object"
        ) from None
    except _Refused as refused:
        raise InputError(f"{where}: {refused}") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply") from None
    except ValueError as error:  # an integer of 5,000 digits
        raise InputError(f"{where}: not JSON that can be read: {str(error).split(':')[0]}") from None
    if not isinstance(data, dict):
        raise InputError(f"{where}: expected a JSON object, got {type(data).__name__}")
    if (found := flaw(data)) is not None:
        place, problem = found
        raise InputError(f"{where}: {f'{place[0]}: ' if place else ''}{problem}")
    try:
        return yamlfile.fit(data, KernelFile)
    except yamlfile.Unfit as unfit:
        raise InputError(*(f"{where}: {mistake}" for _, mistake in unfit.mistakes)) from None


class _Refused(ValueError):
    """Something that the grammar of JSON, or Python's reading of it, allows and that cannot be meant."""


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"key {twice!r} is given twice")
    return data


def _no_constant(word: str) -> NoReturn:
    raise _Refused(f"not valid JSON: {word} is not a number of JSON")
