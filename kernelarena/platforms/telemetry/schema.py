"""What is known of a device at one moment, in one schema whatever the vendor: plain data, None for unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields

from kernelarena.spec.base import StrEnum


class Throttle(StrEnum):
    """Why a device runs slower than it could. An idle device and clocks that somebody set are no throttling."""

    POWER_CAP = "power-cap"
    """The board's power limit."""
    THERMAL = "thermal"
    """The chip's own temperature."""
    MEMORY_THERMAL = "memory-thermal"
    """The temperature of its memory stacks."""
    REGULATOR_THERMAL = "regulator-thermal"
    """The temperature of its voltage regulators."""
    POWER_BRAKE = "power-brake"
    """A signal from outside the chip: the host's power supply, or another part that runs hot."""
    HARDWARE = "hardware-slowdown"
    """The hardware's own protection, which does not say against what."""
    SYNC_BOOST = "sync-boost"
    """Held back to the clock of the slowest device of a group."""
    RELIABILITY = "voltage-reliability"
    BOARD_LIMIT = "board-limit"
    UNNAMED = "unnamed"
    """The device throttles and does not say why."""


@dataclass(frozen=True)
class Reading:
    """What a device answered. None: it does not offer that, or did not answer this once; never a stand-in 0."""

    power_w: float | None = None
    """Power drawn, W. What it is averaged over is in :attr:`Facts.power_window_s`."""
    energy_j: float | None = None
    """Energy since some moment in the past, J; only differences mean anything."""
    core_clock_mhz: float | None = None
    """Clock of the multiprocessors, MHz; the mean where a chip has several dies."""
    memory_clock_mhz: float | None = None
    temperature_c: float | None = None
    """Of the chip, °C: its hottest point where the device tells, else its edge."""
    memory_temperature_c: float | None = None
    utilisation: float | None = None
    """Share of time in which anything ran, 0 to 1."""
    memory_utilisation: float | None = None
    """Share of time in which memory was read or written, 0 to 1."""
    memory_used_bytes: int | None = None
    throttle: tuple[Throttle, ...] | None = None
    """Reasons that held now or at any time since the reading before; an empty tuple: it ran free."""
    ecc_corrected: int | None = None
    """Errors corrected so far; only differences mean anything."""
    ecc_uncorrected: int | None = None

    @classmethod
    def missing_from(cls, reading: Reading) -> tuple[str, ...]:
        """Return the names of the fields that ``reading`` leaves unknown."""
        return tuple(name for name in READING_FIELDS if getattr(reading, name) is None)


READING_FIELDS = tuple(entry.name for entry in fields(Reading))


@dataclass(frozen=True)
class Sample:
    """A reading and when it was taken."""

    at_ns: int
    """Middle of the reading on the host's monotonic clock (``time.monotonic_ns``), which all its processes share."""
    took_ns: int
    """How long the device took to answer, ns: the reading belongs to ``at_ns`` give or take half of it."""
    reading: Reading

    def to_row(self) -> list[object]:
        """Return the sample as a flat list of what JSON knows."""
        values = [getattr(self.reading, name) for name in READING_FIELDS]
        return [self.at_ns, self.took_ns, *(list(value) if isinstance(value, tuple) else value for value in values)]

    @classmethod
    def from_row(cls, row: Sequence[object]) -> Sample:
        """Return the sample that :meth:`to_row` wrote.

        Raises
        ------
        ValueError
            If ``row`` is nothing that :meth:`to_row` writes.
        """
        if len(row) != 2 + len(READING_FIELDS) or not all(isinstance(value, int) for value in row[:2]):
            raise ValueError(f"not a telemetry sample: {row!r}")
        values: dict[str, object] = dict(zip(READING_FIELDS, row[2:], strict=True))
        throttle = values["throttle"]
        if throttle is not None:
            if not isinstance(throttle, list | tuple):
                raise ValueError(f"not a list of throttle reasons: {throttle!r}")
            values["throttle"] = tuple(Throttle(reason) for reason in throttle)
        return cls(row[0], row[1], Reading(**values))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Facts:
    """What holds for a device as long as it is sampled."""

    source: str
    """The library that was asked, with its version: ``amdsmi 25.5.1``."""
    name: str
    """The device's name as the library has it."""
    pci: str
    """``domain:bus:device.function``, hexadecimal."""
    uuid: str = ""
    scope: str = "device"
    """``device``, or what the figures cover where the device is a slice of a chip."""
    power_limit_w: float | None = None
    power_window_s: float | None = None
    """A power reading is the average over this long, s; 0 for an instant; None: the vendor does not say."""
    power_accuracy: float | None = None
    """Relative error of a power reading by the vendor's word; None: the vendor does not say."""
    energy_resolution_j: float | None = None
    """Step of the energy counter, J."""
    throttle_lag_s: float = 0.0
    """Throttling may show this long after it happened, s."""
    ecc_enabled: bool | None = None
    missing: dict[str, str] = field(default_factory=dict)
    """Fields of :class:`Reading` that the device does not offer, with why."""

    def to_dict(self) -> dict[str, object]:
        """Return the facts as plain data."""
        return asdict(self)
