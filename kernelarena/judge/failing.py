"""What a candidate says of an exception: plain data, whatever the exception does when it is looked at."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernelarena.platforms.persona.source import chain

_PACKAGE = Path(__file__).resolve().parent.parent
_MESSAGE_LIMIT = 2000  # characters; a hostile message may be endless
_DEEPEST = 5  # links of a chain of causes that are told


def describe(error: BaseException) -> dict[str, Any]:
    """Describe an exception as plain data: its type, its message and the lines it passed through, innermost first.

    An exception of the kernel's making may misbehave when it is looked at; that must not get in the way.
    """
    links = [link for link, _ in zip(chain(error), range(_DEEPEST), strict=False)]
    try:
        message = str(error)
    except BaseException as worse:
        message = f"(its message cannot be shown: {type(worse).__name__})"
    frames = [
        [frame.filename, frame.lineno] for link in links for frame in reversed(list(_frames(link))) if frame.lineno
    ]
    show(error)
    told = {"types": [type(link).__name__ for link in links], "message": message[:_MESSAGE_LIMIT], "frames": frames}
    return told | _fault(error)


def _fault(error: BaseException) -> dict[str, Any]:
    """Return what an emulator says of a fault that it found, and the line of device code."""
    module = sys.modules.get("kernelarena.platforms.emulator.fault")  # where it is not loaded, it has found nothing
    if module is None:
        return {}
    if isinstance(error, module.Unsupported):
        return {"fault": module.FaultKind.UNSUPPORTED.value}
    if not isinstance(error, module.Fault):
        return {}
    if error.place is None:
        return {"fault": error.kind.value}
    words = str(error).removeprefix(f"{error.place}: ")
    place = [error.place.file, error.place.line]
    return {"fault": error.kind.value, "message": words[:_MESSAGE_LIMIT], "place": place}


def show(error: BaseException) -> None:
    """Print an exception into the log, without the harness's own frames: they are not what its author looks for."""
    with contextlib.suppress(BaseException):
        shown = traceback.TracebackException.from_exception(error)
        link: traceback.TracebackException | None = shown
        while link is not None:
            kept = [frame for frame in link.stack if not Path(frame.filename).is_relative_to(_PACKAGE)]
            link.stack = traceback.StackSummary.from_list(kept[-20:])
            link = link.__cause__ or link.__context__
        print("".join(shown.format()), file=sys.stderr, flush=True)


def _frames(error: BaseException) -> Iterator[traceback.FrameSummary]:
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        yield traceback.FrameSummary(error.filename, error.lineno, "", lookup_line=False)
        return
    yield from traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), lookup_lines=False)
