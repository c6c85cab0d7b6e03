"""What a vendor's probe answers, and the part of asking a management library that is the same for all of them."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from kernelarena.platforms.telemetry.condition import Condition
from kernelarena.platforms.telemetry.errors import DeviceVanished, TelemetryUnavailable
from kernelarena.platforms.telemetry.schema import Facts, Reading

EMPTY_READINGS = 3
"""So many readings in a row without any answer, from a device that did answer, and it is gone: a single one may meet a
driver that is busy."""

T = TypeVar("T")


class Probe(ABC):
    """One device, held open. Lives in a process of its own; may be slow, and must not be shared."""

    environment: ClassVar[dict[str, str]] = {}
    """Variables that the library reads when it is loaded, set unless the user has set them."""

    facts: Facts

    @classmethod
    @abstractmethod
    def open(cls, pci: str, uuid: str) -> Probe:
        """Find the device and return a probe of it.

        Parameters
        ----------
        pci
            ``domain:bus:device[.function]`` as the runtime has it; empty if it does not say.
        uuid
            As the runtime has it; empty if it does not say.

        Raises
        ------
        TelemetryUnavailable
            If there is no library, no driver or no such device.
        """

    @abstractmethod
    def read(self) -> Reading:
        """Return what the device says now.

        Raises
        ------
        DeviceVanished
            If it no longer answers.
        """

    def condition(self) -> Condition:
        """Return how the device is set up and who uses it; nothing where a library does not say."""
        return Condition()

    @abstractmethod
    def close(self) -> None:
        """Let go of the device."""


def probe_class(source: str) -> type[Probe]:
    """Return the probe that a backend names as ``package.module:Class``.

    Raises
    ------
    TelemetryUnavailable
        If there is none.
    """
    if not source:
        raise TelemetryUnavailable("the backend names no probe")
    module, _, name = source.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise TelemetryUnavailable(f"telemetry '{source}' does not load: {one_line(error)}") from None
    if not (isinstance(found, type) and issubclass(found, Probe)):
        raise TelemetryUnavailable(f"telemetry '{source}' is not a {Probe.__module__}.Probe")
    return found


class Asker:
    """Calls a library of which any function may be unsupported on this device.

    A call that the device refused before it ever answered is not made again, and its reason is kept; a call that fails
    after it has answered is a gap in one reading. When nothing answers any more, the device is gone.
    """

    def __init__(
        self,
        failure: type[Exception],
        lost: Callable[[Exception], bool] = lambda error: False,
        words: Callable[[Exception], str] = str,
    ) -> None:
        self.refused: dict[str, str] = {}
        """Calls that the device does not offer, with what the library said."""
        self._failure = failure
        self._lost = lost
        self._words = words
        self._answered: set[str] = set()
        self._answers = 0
        self._empty = 0
        self._last = ""

    def ask(self, name: str, function: Callable[..., T], *arguments: Any) -> T | None:
        """Return what ``function(*arguments)`` returns, or None where the library refuses.

        Raises
        ------
        DeviceVanished
            If the library says that the device is lost.
        """
        if name in self.refused:
            return None
        try:
            value = function(*arguments)
        except self._failure as error:
            if self._lost(error):
                raise DeviceVanished(f"{name}: {one_line(self._words(error))}") from None
            self.note(name, one_line(self._words(error)))
            return None
        self.note(name)
        return value

    def note(self, name: str, problem: str = "") -> None:
        """Count an answer, or a refusal, that did not come by :meth:`ask`."""
        if not problem:
            self._answered.add(name)
            self._answers += 1
            return
        self._last = f"{name}: {problem}"
        if name not in self._answered:
            self.refused[name] = problem

    def end_reading(self) -> None:
        """Say that a reading is complete.

        Raises
        ------
        DeviceVanished
            If this and the ones before it had no answer at all, and earlier ones had.
        """
        self._empty = 0 if self._answers else self._empty + 1
        self._answers = 0
        if self._answered and self._empty >= EMPTY_READINGS:
            raise DeviceVanished(f"no longer answers ({self._last})")


def number(value: object, limit: float = float("inf")) -> float | None:
    """Return a measured value, or None for what libraries put where they have none: text, NaN, 16 or 32 ones."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value in (0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF) or not abs(value) <= limit:
        return None
    return float(value)


def count(value: object) -> int | None:
    """Return a counter's value, or None where a library puts text or 32 or 64 ones."""
    if isinstance(value, bool) or not isinstance(value, int) or value in (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF):
        return None
    return value if value >= 0 else None


def share(value: object) -> float | None:
    """Return a percentage as a share of 1, or None for what is none."""
    found = number(value, limit=100)
    return None if found is None or found < 0 else found / 100


def missing(reading: Reading, calls: dict[str, tuple[str, ...]], refused: dict[str, str]) -> dict[str, str]:
    """Return which fields a first reading left unknown, with what the library said of the calls that they come from."""
    found = {}
    for name in Reading.missing_from(reading):
        said: dict[str, list[str]] = {}
        for call in calls.get(name, ()):
            if call in refused:
                said.setdefault(refused[call], []).append(call)
        reasons = [f"{reason} ({', '.join(by)})" for reason, by in said.items()]
        found[name] = "; ".join(reasons) or "the library has no value for it"
    return found


def one_line(error: object) -> str:
    """Return an error's words on one line."""
    return " ".join(str(error).split()) or type(error).__name__
