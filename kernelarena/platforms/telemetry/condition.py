"""How a device is set up and who else uses it, as far as its management library says: looked at once, not sampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Occupant:
    """A process that uses a device."""

    pid: int
    memory_bytes: int | None = None
    """Device memory that it holds; None where the library does not say."""


@dataclass(frozen=True)
class Condition:
    """What a device was found in. None: the library does not say."""

    driver: str | None = None
    """Version of the kernel driver, as the library has it."""
    clocks: str | None = None
    """What somebody set the clocks to; empty where they follow the load."""
    persistent: bool | None = None
    """Whether the driver stays awake while nobody uses the device."""
    partition: str | None = None
    """The mode that a chip is partitioned by; empty for a whole one."""
    virtual: bool | None = None
    """Whether it is a virtual function, of which the host keeps figures and settings to itself."""
    ecc_pending: bool | None = None
    """Whether memory errors are corrected from the next reset on, where that differs from now."""
    occupants: tuple[Occupant, ...] | None = None
    """Everyone who uses it for computing now. Processes of other containers may not be listed."""

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Condition:
        """Return the condition that :meth:`to_dict` wrote down."""
        occupants = data.get("occupants")
        told = None if occupants is None else tuple(Occupant(**occupant) for occupant in occupants)
        return cls(**{**data, "occupants": told})
