"""One device: whether kernels run on it, whether it is the chip that its platform file describes, how it is set up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kernelarena.platforms.backend import Backend, Device
from kernelarena.platforms.doctor.finding import Finding, missing, ok, warning
from kernelarena.platforms.telemetry.condition import Condition
from kernelarena.platforms.telemetry.schema import Facts
from kernelarena.platforms.unmatched import remedy
from kernelarena.spec import Platform

_GIB = 1 << 30
_MOSTLY = 0.9
"""Share of a device's memory that is free while nobody else uses it: contexts and firmware take a little."""
_CAPACITY = 0.8
"""Share of the capacity that the file gives, below which it is not the same chip: ECC and firmware take some of it."""


@dataclass(frozen=True)
class Examined:
    """What the checks look at.

    Attributes
    ----------
    backend, device, platform
        Which device it is; no platform where none describes it.
    opened
        What the process told that opened it; ``problem`` where it could not.
    managed
        What the management library told of it; ``problem`` where it could not.
    """

    backend: Backend
    device: Device
    platform: Platform | None
    opened: Mapping[str, Any]
    managed: Mapping[str, Any]

    @property
    def usable(self) -> bool:
        """Whether something was computed on it."""
        return "problem" not in self.opened

    @property
    def facts(self) -> Facts | None:
        """What holds for it by its management library."""
        return Facts(**self.managed["facts"]) if "facts" in self.managed else None

    @property
    def condition(self) -> Condition:
        """What it was found in."""
        return Condition.from_dict(self.managed.get("condition", {}))


def identity(examined: Examined) -> Iterator[Finding]:
    """Say which platform it is, and what to do with a device that is none."""
    device = examined.device
    where = ", ".join(filter(None, (device.arch, device.pci)))
    if examined.platform is not None:
        yield ok("platform", f"{examined.platform.id} ({where})")
        return
    yield missing("platform", f"no platform file describes it ({where})", remedy(examined.backend, device))


def nodes(examined: Examined) -> Iterator[Finding]:
    """Look whether everything can be opened that a kernel's process needs of the device."""
    try:
        paths = examined.backend.access(examined.device).paths
    except RuntimeError:  # which is also why it cannot be used, and said there
        return
    closed = [path for path in paths if path.startswith("/dev/") and not os.access(path, os.R_OK | os.W_OK)]
    if closed:
        yield missing("nodes", f"{', '.join(closed)} may not be opened", "give this user access to them")


def works(examined: Examined) -> Iterator[Finding]:
    """Say whether something was computed on it, and whether the process was shown the device that was meant."""
    if not examined.usable:
        yield missing("works", f"it cannot be used: {examined.opened['problem']}", "see the driver's log (dmesg)")
        return
    shown = examined.opened["properties"].get("name", examined.device.name)
    if shown != examined.device.name:
        yield missing("works", f"a process that is to be shown it alone sees {shown}", "unset what hides devices")
        return
    yield ok("works", f"a sum came out right, in {examined.opened['milliseconds'] * 1e3:.0f} µs by its own events")


def memory(examined: Examined) -> Iterator[Finding]:
    """Look at its free memory."""
    if not examined.usable:
        return
    free, total = examined.opened["free"], examined.opened["total"]
    said = f"{free / _GIB:.1f} of {total / _GIB:.1f} GiB are free"
    if free < _MOSTLY * total:
        yield warning("memory", said, "end what else uses it: kernels and their truths need most of it")
    else:
        yield ok("memory", said)


def sharing(examined: Examined) -> Iterator[Finding]:
    """Say how tensors get from the judge's process to a kernel's."""
    if not examined.usable:
        return
    if examined.opened["shared"]:
        yield ok("sharing", "by the driver's virtual memory, with addresses that fault behind every input")
        return
    yield warning(
        "sharing",
        "tensors are copied through the host: slower, and reads past an input go unnoticed",
        "a newer driver may have the virtual memory calls; virtual functions commonly have none",
    )


def figures(examined: Examined) -> Iterator[Finding]:
    """Hold what the runtime tells of the device against its platform file: a slice of a chip is not the chip."""
    platform, told = examined.platform, examined.opened.get("properties", {})
    if platform is None or not examined.usable:
        return
    wrong = []
    if platform.occupancy is not None and "multi_processor_count" in told:
        expected, found = platform.occupancy.multiprocessors, told["multi_processor_count"]
        if found != expected:
            wrong.append(f"{found} multiprocessors instead of {expected}")
    if platform.limits is not None and told.get("warp_size") not in (None, platform.limits.warp_size):
        wrong.append(f"warps of {told['warp_size']} lanes instead of {platform.limits.warp_size}")
    if platform.memory is not None:
        expected, found = platform.memory.bytes, examined.opened["total"]
        if not _CAPACITY * expected <= found <= expected / _CAPACITY:
            wrong.append(f"{found / _GIB:.0f} GiB of memory instead of {expected / _GIB:.0f}")
    if wrong:
        yield warning(
            "figures",
            f"not what {platform.id}.yaml says: {', '.join(wrong)}",
            "use the whole chip (not a partition), or describe this one in a platform file of its own",
        )
    else:
        yield ok("figures", f"as {platform.id}.yaml says")


def telemetry(examined: Examined) -> Iterator[Finding]:
    """Say whether the management library finds the device, and what of it stays unknown."""
    facts = examined.facts
    if facts is None:
        yield missing("telemetry", examined.managed.get("problem", "there is none"), "without, telemetry is null")
        return
    driver = f", driver {examined.condition.driver}" if examined.condition.driver else ""
    scope = "" if facts.scope == "device" else f", {facts.scope}"
    said = f"{facts.source}{driver}, at {facts.pci}{scope}"
    if facts.missing:
        yield warning("telemetry", f"{said}; null: {', '.join(facts.missing)}")
    else:
        yield ok("telemetry", said)


def clocks(examined: Examined) -> Iterator[Finding]:
    """Say whether somebody set the clocks. Timing interleaves kernel and baseline, and needs no fixed ones."""
    found = examined.condition.clocks
    if found:
        yield warning("clocks", f"set: {found}", "speedups hold; times are not those of the chip as it ships")
    elif found is not None:
        yield ok("clocks", "follow the load")


def persistence(examined: Examined) -> Iterator[Finding]:
    """Say whether the driver falls asleep between processes."""
    awake = examined.condition.persistent
    if awake is False:
        yield warning("persistence", "off: the first process to open it waits for seconds", "nvidia-smi -pm 1, as root")
    elif awake:
        yield ok("persistence", "on")


def ecc(examined: Examined) -> Iterator[Finding]:
    """Say whether errors of its memory are corrected."""
    facts, pending = examined.facts, examined.condition.ecc_pending
    if facts is None or facts.ecc_enabled is None:
        return
    change = "" if pending is None else f", {'on' if pending else 'off'} from the next reset on"
    if facts.ecc_enabled:
        yield ok("ECC", f"on{change}")
    else:
        yield warning("ECC", f"off{change}", "turn it on: a wrong bit would be taken for a kernel's mistake")


def partition(examined: Examined) -> Iterator[Finding]:
    """Say whether the chip is split, or one of a hypervisor's shares."""
    condition = examined.condition
    if condition.partition:
        yield warning(
            "partition",
            f"{condition.partition}: the device is a part of its chip",
            "platform files describe whole chips: set it back (SPX and NPS1; MIG off) to compare with them",
        )
    elif condition.partition is not None:
        yield ok("partition", "the whole chip")
    if condition.virtual:
        yield warning("virtual", "a virtual function: the host keeps power and clocks to itself")


def others(examined: Examined) -> Iterator[Finding]:
    """Say who else computes on it."""
    occupants = examined.condition.occupants
    if occupants is None:
        return
    if not occupants:
        yield ok("processes", "nobody else computes on it")
        return
    held = "; ".join(
        f"{occupant.pid}" + (f" holds {occupant.memory_bytes / _GIB:.1f} GiB" if occupant.memory_bytes else "")
        for occupant in occupants
    )
    yield warning(
        "processes", f"others compute on it: {held}", "end them before timing: they share its clocks and caches"
    )


CHECKS: tuple[Callable[[Examined], Iterator[Finding]], ...] = (
    identity, nodes, works, memory, sharing, figures, telemetry, clocks, persistence, ecc, partition, others,
)  # fmt: skip
"""In the order in which their findings are shown."""
