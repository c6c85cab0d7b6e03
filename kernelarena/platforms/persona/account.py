"""The account of one call: what the framework computed, where that went, and what was handed to launches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from kernelarena.platforms.persona.handed import Handed
from kernelarena.platforms.persona.journal import Journal
from kernelarena.platforms.persona.ledger import Ledger, StorageFacts, Work
from kernelarena.platforms.persona.provenance import Provenance
from kernelarena.platforms.persona.traffic import Traffic

_TABLE = 1024
"""Bytes that host code may always prepare for its kernels within a call: slopes, offsets, pointers."""
_TELLING = 2
"""Bytes that say an element of an answer near enough, however wide it is."""


def says_enough(size: int, outputs: Iterable[torch.Tensor]) -> bool:
    """Return whether so many bytes of host code's own may say what ``outputs`` hold: half of what they take to say."""
    return 2 * size >= sum(output.numel() * min(output.element_size(), _TELLING) for output in outputs)


class Table(NamedTuple):
    """What host code made in a call, and launches loaded.

    Attributes
    ----------
    size
        Bytes that were loaded of it, those that are addresses left out.
    content
        A digest of all of it, hexadecimal.
    floating
        Whether a launch was handed it as numbers with a fraction.
    """

    size: int
    content: str
    floating: bool


@dataclass
class OperatorUse:
    """What one framework operator did during a call.

    Attributes
    ----------
    calls
        How often it ran.
    elements
        Elements read and written.
    flops
        Of contractions (matrix products, convolutions, attention); 0 for others.
    """

    calls: int = 0
    elements: int = 0
    flops: float = 0.0


class Launch(NamedTuple):
    """What one launch was handed.

    Attributes
    ----------
    kernel
        The device function's name, as far as known.
    handed
        Of each storage: what it is known by, the elements of its largest tensor, and those that it has room for.
    """

    kernel: str
    handed: tuple[tuple[int, int, int], ...]


class Look(NamedTuple):
    """Host code looked at a value that the framework had computed."""

    works: tuple[Work, ...]


class Observed:
    """What was seen of one call of the kernel's entry.

    Parameters
    ----------
    ledger
        Entries of all storages.
    handed
        Told of every launch; it remembers those of earlier calls.
    provenance
        Who wrote what, where that is known.
    """

    def __init__(self, ledger: Ledger, handed: Handed, provenance: Provenance | None = None) -> None:
        self._ledger = ledger
        self._handed = handed
        self._provenance = provenance
        self._journal: Journal[Work | Launch | Look] = Journal()
        self._used: list[Work] = []
        self._loaded: dict[int, int] = {}
        self._from_host: dict[int, int] = {}
        self._tables: set[Table] = set()

    @property
    def intact(self) -> bool:
        """Whether what was noted is still there, and nothing else."""
        return self._journal.intact

    @property
    def launches(self) -> int:
        """How many launches there were, those of an autotuner's trials left out."""
        return sum(1 for _ in self._launches())

    @property
    def operators(self) -> dict[str, OperatorUse]:
        """Computing operators by name, ``aten::mm``; all that ran."""
        return _tally(self._works())

    @property
    def launched_elements(self) -> int:
        """Elements of the tensors handed to launches.

        However often it is handed, memory counts once: launching again is no more work than launching.
        """
        elements: dict[int, tuple[int, int]] = {}
        for launch in self._launches():
            for key, count, room in launch.handed:
                before = elements.get(key, (0, 0))
                elements[key] = before[0] + count, max(before[1], room)
        return sum(min(handed, room) for handed, room in elements.values())

    def _works(self) -> Iterator[Work]:
        return (entry for entry in self._journal if isinstance(entry, Work))

    def _launches(self) -> Iterator[Launch]:
        return (entry for entry in self._journal if isinstance(entry, Launch))

    def charge(self, work: Work) -> None:
        """Note that the framework computed something."""
        self._journal.add(work)

    def read(self, entries: Iterable[StorageFacts]) -> None:
        """Note that host code looked at a value."""
        if works := tuple(work for entry in entries for work in entry.work):
            self._journal.add(Look(works))

    def launch(self, tensors: Iterable[torch.Tensor], kernel: str) -> None:
        """Note what a launch of a device function was handed."""
        largest: dict[int, tuple[int, int]] = {}
        for tensor in tensors:
            entry = self._ledger.find(tensor)
            if entry is not None:
                room = tensor.untyped_storage().nbytes() // tensor.element_size()
                largest[id(entry)] = max(largest.get(id(entry), (0, 0)), (tensor.numel(), room))
                self._used += entry.work
        self._journal.add(Launch(kernel, tuple((key, count, room) for key, (count, room) in largest.items())))

    def loaded(self, tensors: Iterable[torch.Tensor], traffic: Traffic) -> None:
        """Note what a launch loaded from the memory that it was handed."""
        for tensor in {id(self._ledger.find(tensor)): tensor for tensor in tensors}.values():
            if (entry := self._ledger.find(tensor)) is not None:
                key, count = id(entry), traffic.loaded(tensor)
                self._loaded[key] = self._loaded.get(key, 0) + count
                if own := min(count, entry.host):
                    self._from_host[key] = max(self._from_host.get(key, 0), own)
                    if entry.content is not None:
                        size = max(0, own - self._ledger.addresses(tensor))
                        self._tables.add(Table(size, entry.content.hex(), tensor.is_floating_point()))

    def loads(self, tensor: torch.Tensor) -> int:
        """Return how many bytes of a tensor's memory launches loaded, each as often as it was."""
        return self._loaded.get(id(self._ledger.find(tensor)), 0)

    @property
    def tables(self) -> list[Table]:
        """What host code made in this call for launches to load."""
        return sorted(self._tables)

    def summary(self, outputs: Sequence[object] = ()) -> dict[str, Any]:
        """Return it as plain data, with whether each output can have come out of a kernel and lies in new memory.

        What was computed only to be looked at, and went neither into a launch nor into an output, is left out: a check
        of the inputs is no part of the answer.
        """
        entries = [self._ledger.find(output) for output in outputs if isinstance(output, torch.Tensor)]
        used = _reached([*self._used, *(work for entry in entries if entry is not None for work in entry.work)])
        spared = _reached(work for look in self._journal if isinstance(look, Look) for work in look.works) - used
        operators = _tally(work for work in self._works() if work not in spared)
        return {
            "operators": {name: vars(use) for name, use in operators.items()},
            "launches": self.launches,
            "kernels": sorted({launch.kernel for launch in self._launches()} - {""}),
            "launched_elements": self.launched_elements,
            "derived": [self._may_derive(output) for output in outputs],
            "kept": [self._is_kept(output) for output in outputs],
        }

    def _is_kept(self, output: object) -> bool:
        entry = self._ledger.find(output) if isinstance(output, torch.Tensor) else None
        return entry is not None and entry.earlier and not entry.argument

    def _may_derive(self, output: object) -> bool:
        if not isinstance(output, torch.Tensor):
            return False
        if not output.numel():
            return True
        entry = self._ledger.find(output)
        # An argument that comes back may be a kernel's work in place, or need none; what framework operators did to
        # it is held against them by what they touched.
        if entry is None or not (entry.launched or entry.derived or entry.argument):
            return False
        return not (self._handed.was(output) or self._is_host_codes(output, entry))

    def _is_host_codes(self, output: torch.Tensor, entry: StorageFacts) -> bool:
        """Whether host code wrote an output itself, or gave launches so much of its own that it holds the answer."""
        if self._provenance is None:
            return False
        own = entry.host + sum(self._from_host.values())
        return self._provenance.unaccounted(output) or (own > _TABLE and says_enough(own, [output]))


def _tally(works: Iterable[Work]) -> dict[str, OperatorUse]:
    operators: dict[str, OperatorUse] = {}
    for work in works:
        use = operators.setdefault(work.name, OperatorUse())
        use.calls += 1
        use.elements += work.elements
        use.flops += work.flops
    return operators


def _reached(works: Iterable[Work]) -> set[Work]:
    """Return ``works`` and everything that they were computed from."""
    found: set[Work] = set()
    todo = list(works)
    while todo:
        work = todo.pop()
        if work not in found:
            found.add(work)
            todo += work.sources
    return found
