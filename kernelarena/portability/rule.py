"""What a rule is: it looks at one file for one kind of fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kernelarena.portability.finding import Severity
from kernelarena.spec import Platform

if TYPE_CHECKING:
    from kernelarena.portability.cpp.unit import CppUnit
    from kernelarena.portability.python.unit import PythonUnit
    from kernelarena.portability.source import Span


@dataclass(frozen=True)
class Fault:
    """What a rule found.

    Attributes
    ----------
    span
        Where.
    platforms
        Ids of those on which it breaks; a fault that breaks nowhere is none, and is dropped.
    breaks
        What goes wrong there: a sentence without its full stop, that fits all of them.
    instead
        What to write.
    """

    span: Span
    platforms: tuple[str, ...]
    breaks: str
    instead: str


class Rule:
    """One kind of fault. A rule that has nothing to say of a language leaves its method alone.

    Rules know nothing of vendors: limits come from the platforms, names from :mod:`kernelarena.platforms.dialects`.
    What they cannot tell for certain, they do not say.
    """

    id: ClassVar[str]
    """Its name in findings, and that of its page in ``docs/rules``."""
    summary: ClassVar[str]
    """What it finds, in one sentence."""
    severity: ClassVar[Severity] = Severity.ERROR

    def cpp(self, unit: CppUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Yield what is wrong in a C++ file."""
        yield from ()

    def python(self, unit: PythonUnit, platforms: Sequence[Platform]) -> Iterator[Fault]:
        """Yield what is wrong in a Python file."""
        yield from ()


def where(platforms: Iterable[Platform], breaks: Callable[[Platform], bool] = lambda _: True) -> tuple[str, ...]:
    """Return the ids of the platforms for which ``breaks`` holds."""
    return tuple(platform.id for platform in platforms if breaks(platform))
