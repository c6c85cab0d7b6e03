"""Which of a management library's devices is the one that the runtime means: by PCI address and UUID, never by index.

Runtimes number what the process may see, in an order that environment variables change; management libraries number
what the host has. The two agree until the day they do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PCI = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?", re.IGNORECASE)


@dataclass(frozen=True)
class PciAddress:
    """Where a device sits on the bus."""

    domain: int
    bus: int
    device: int
    function: int | None = None
    """None where the source does not say: partitions of one chip may differ in the function alone."""

    @classmethod
    def parse(cls, text: str) -> PciAddress | None:
        """Return the address in ``[domain:]bus:device[.function]``, hexadecimal, or None where there is none."""
        match = _PCI.fullmatch(text.strip())
        if match is None:
            return None
        domain, bus, device, function = match.groups()
        return cls(int(domain or "0", 16), int(bus, 16), int(device, 16), None if function is None else int(function))

    def __str__(self) -> str:
        text = f"{self.domain:04x}:{self.bus:02x}:{self.device:02x}"
        return text if self.function is None else f"{text}.{self.function}"

    def same_chip(self, other: PciAddress) -> bool:
        """Return whether both are functions of one chip."""
        return (self.domain, self.bus, self.device) == (other.domain, other.bus, other.device)

    def same_device(self, other: PciAddress) -> bool:
        """Return whether both are one device, as far as both say."""
        return self.same_chip(other) and (
            self.function is None or other.function is None or self.function == other.function
        )


def uuid_forms(text: str) -> frozenset[str]:
    """Return every spelling under which ``text`` may be met elsewhere, in lower case and without punctuation.

    HIP puts the sixteen hexadecimal digits of a chip's serial number as *text* into the sixteen bytes of its UUID, and
    torch prints these bytes once more in hexadecimal; a management library prints the digits themselves.
    """
    bare = re.sub(r"^(gpu-|0x)", "", text.strip().lower()).replace("-", "")
    if not bare or set(bare) <= {"0"}:
        return frozenset()
    forms = {bare}
    if re.fullmatch(r"[0-9a-f]{32}", bare):
        inner = bytes.fromhex(bare)
        if re.fullmatch(rb"[0-9a-fA-F]{16}", inner):
            forms.add(inner.decode().lower())
    return frozenset(forms)


def same_uuid(one: str, other: str) -> bool:
    """Return whether two UUIDs, or serial numbers, name the same thing in whatever spelling."""
    return not uuid_forms(one).isdisjoint(uuid_forms(other))
