"""Text for people: making untrusted text harmless, and putting numbers and lists into words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal

# What terminals act upon: CSI sequences (colours, cursor), OSC sequences (titles, links), two-character escapes.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WY-Z^-~])")
# What is left after that and still acts or deceives: control characters, characters that reorder or hide the text
# around them ("Trojan Source", CVE-2021-42574), lone surrogates.
_CHARACTER = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the Unicode block of control pictures
    if code == 0x7F:
        return "\u2421"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"⟨U+{code:04X}⟩"


def clean(text: object, *, limit: int = 20_000, width: int = 2_000, keep: Literal["start", "end"] = "start") -> str:
    """Return untrusted text as text that does nothing but be read.

    Every string of a run that reaches a report goes through here: terminal sequences are dropped, other control
    characters become visible symbols, characters that reorder text become their code points, lone surrogates become
    U+FFFD, and what is too long is cut and says so. Escaping for HTML or markdown comes after, where those are written.

    Parameters
    ----------
    text
        Anything; what is not a string is converted.
    limit
        Characters at most, of the whole.
    width
        Characters at most, of a line.
    keep
        Which end of a text that is too long matters: the start of a message, the end of a log.

    Returns
    -------
    str
        At most ``limit`` characters in lines of at most ``width``. Cleaning it again changes nothing.
    """
    text = text if isinstance(text, str) else str(text)
    if len(text) <= min(limit, width) and text.isprintable():
        return text  # most of what a report prints
    if len(text) > 4 * limit:  # so that a hostile 10 MB cost no more than what is shown of them
        text = text[: 4 * limit] if keep == "start" else text[-4 * limit :]
    text = _CHARACTER.sub(_shown, _TERMINAL.sub("", text.replace("\r\n", "\n")))
    text = "\n".join(_cut(line, width, "start") for line in text.split("\n"))
    return _cut(text, limit, keep)


def _cut(text: str, limit: int, keep: Literal["start", "end"]) -> str:
    if len(text) <= limit:
        return text
    return text[: limit - 2] + " …" if keep == "start" else "… " + text[2 - limit :]


def one_line(text: object, *, limit: int = 300) -> str:
    """Return cleaned text on one line, for a table cell."""
    return clean(" ".join(clean(text, limit=4 * limit).split()), limit=limit)


# Said by the toolchain of itself, whatever the kernel: a warning, and the line of source that comes with it.
_KNOWN_WARNING = re.compile(
    r"^.*Warning: TRITON_DEFAULT_FP_FUSION is unset.*(?:\n[ \t]+warn_once\(.*)?(?:\n|\Z)", re.MULTILINE
)


def worth_reading(log: str) -> str:
    """Return a log without what says nothing about the kernel; empty if nothing else is in it."""
    rest = _KNOWN_WARNING.sub("", log)
    return rest if rest.strip() else ""


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """Return ``1 kernel`` or ``2 kernels``."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def listing(words: Sequence[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def size(number: float | None) -> str:
    """Return bytes in binary units, exactly where they are round: ``64 KiB``, ``1,000 B``, ``2.5 MiB``."""
    if number is None:
        return "–"
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if number >= factor:
            value = number / factor
            return f"{value:,.0f} {unit}" if value == int(value) or value >= 100 else f"{value:.1f} {unit}"
    return f"{number:,.0f} B"


def percent(share: float | None) -> str:
    """Return a share as a whole percentage, never rounding up to all or down to nothing."""
    if share is None or math.isnan(share):
        return "–"
    rounded = round(100 * share)
    if rounded in (0, 100) and share not in (0.0, 1.0):
        rounded = 1 if rounded == 0 else 99
    return f"{rounded} %"


def times(ratio: float | None) -> str:
    """Return a ratio as ``1.25 ×``, and a dash for one that is not known."""
    return "–" if ratio is None or math.isnan(ratio) else f"{ratio:.2f} ×"


def duration(seconds: float) -> str:
    """Return ``0.4 s``, ``12 s``, ``3 min 20 s``, ``2 min`` or ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        parts = ((whole // 60, "min"), (whole % 60, "s"))
    else:
        parts = ((whole // 3600, "h"), (whole % 3600 // 60, "min"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def brief(seconds: float | None) -> str:
    """Return the time of a call: ``12.3 µs``, ``1.234 ms``, or a dash for one that is not known."""
    if seconds is None or math.isnan(seconds):
        return "–"
    return f"{seconds * 1e6:,.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:,.4g} ms"


def joined(parts: Iterable[str | None], separator: str = " · ") -> str:
    """Join the parts that say something."""
    return separator.join(part for part in parts if part)
