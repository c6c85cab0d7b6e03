"""Who wrote what a storage holds: the judge, an observed operator or a launch, or else host code behind their backs.

Host code has means that no dispatcher sees: ``memmove`` through a pointer, NumPy over the same memory, another thread
or process, an operator that is dispatched again below the observer. None of them can hide what it does to memory. So
everything that is allowed to write leaves a digest behind; memory that holds something else when it is next used was
written by host code, and so was memory that no operator made (``torch.tensor``, ``from_numpy``, ``frombuffer``). What
follows from it by copies is host code's too, until it is overwritten.

Host code may prepare tables for its kernels. What it made before the call cannot be the answer to it and does not
count; what it makes within the call counts by its bytes, and
:class:`~kernelarena.platforms.persona.account.Observed` says how many are too many.

It is for launches that take place in this process's memory: reading a device's would make it wait.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence

import torch

from kernelarena.platforms.persona import digest
from kernelarena.platforms.persona.ledger import Ledger, StorageFacts


class Provenance:
    """Keeps, for each storage, what it was last seen to hold, and how much of it is host code's own.

    Parameters
    ----------
    ledger
        Entries of all storages.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._within = _Within()
        self._awake = False
        self._strays: list[tuple[int, int]] = []

    @contextlib.contextmanager
    def call(self, given: Sequence[torch.Tensor]) -> Iterator[None]:
        """Look at what happens within the block: a call, for which the judge wrote ``given``.

        Not at other times: the harness handles memory that lies beside pages which cannot be read.
        """
        self._strays.clear()
        self._awake = True
        try:
            self.written(given, 0, over=True)
            yield
        finally:
            self._awake = False

    def used(self, sources: Sequence[torch.Tensor], written: Sequence[torch.Tensor] = ()) -> int:
        """Look at memory that an operator is about to read or write; return how many bytes host code put there.

        Parameters
        ----------
        sources
            All operands.
        written
            Those of them that the operator writes; what they hold is not passed on.
        """
        if not self._awake:
            return 0
        targets = {id(self._ledger.find(tensor)) for tensor in written}
        passed_on: dict[int, int] = {}
        for tensor in sources:
            entry = self._ledger.find(tensor)
            if entry is not None:
                self._look(tensor, entry)
                if id(entry) not in targets:
                    passed_on[id(entry)] = entry.host
            elif (key := digest.of_storage(tensor)) is not None and says_something(tensor):
                passed_on[hash(key)] = tensor.numel() * tensor.element_size()
        return sum(passed_on.values())

    def written(self, tensors: Iterable[torch.Tensor], passed_on: int, *, over: bool) -> None:
        """Note that an observed operator wrote ``tensors``.

        Parameters
        ----------
        tensors
            Its results, and the operands that it changed.
        passed_on
            What :meth:`used` returned for it.
        over
            Whether nothing of what they held before is left there.
        """
        if not self._awake or self._within.launches:  # the interpreter puts things back where they are
            return
        for tensor in tensors:
            if (entry := self._ledger.find(tensor)) is not None:
                size = tensor.numel() * tensor.element_size()
                added = min(passed_on, size)
                if not over:
                    entry.host = max(entry.host, added)
                elif size >= tensor.untyped_storage().nbytes():
                    entry.host = added
                else:  # a part, beside what others may hold
                    entry.host = min(tensor.untyped_storage().nbytes(), entry.host + added)
                entry.content = digest.of_storage(tensor)

    def launching(self, tensors: Iterable[torch.Tensor]) -> None:
        """Look at what a launch is handed, and leave what is written from here on to the launch."""
        for tensor in tensors:
            if (entry := self._ledger.enter(tensor, device=True)) is not None:
                self._look(tensor, entry)
        self._within.launches += 1

    def launched(self, tensors: Iterable[torch.Tensor], strays: Sequence[tuple[int, int]] = ()) -> None:
        """Note that a launch ended, however it did, and that it wrote ``tensors``, and at other addresses."""
        self._within.launches -= 1
        self._strays += strays
        for tensor in tensors:
            if self._awake and (entry := self._ledger.find(tensor)) is not None:
                entry.content = digest.of_storage(tensor)

    def unaccounted(self, tensor: torch.Tensor) -> bool:
        """Return whether memory that was last written by a launch or an operator holds something else by now."""
        entry = self._ledger.find(tensor)
        if entry is None or entry.content is None or self._strayed(tensor):
            return False
        return digest.of_storage(tensor) != entry.content

    def _look(self, tensor: torch.Tensor, entry: StorageFacts) -> None:
        if (
            not self._awake
            or self._within.launches
            or (now := digest.of_storage(tensor)) is None
            or now == entry.content
        ):
            return
        # What was there before the call, and was never looked at, is a table that was made then.
        known = entry.content is not None or not (entry.earlier or entry.argument)
        if known and not self._strayed(tensor) and says_something(tensor):
            entry.host = tensor.untyped_storage().nbytes()
        entry.content = now

    def _strayed(self, tensor: torch.Tensor) -> bool:
        """Return whether a launch that was handed the address, and not the tensor, wrote it."""
        start = tensor.untyped_storage().data_ptr()
        end = start + tensor.untyped_storage().nbytes()
        return any(first < end and last >= start for first, last in self._strays)


class _Within(threading.local):
    launches = 0


def says_something(tensor: torch.Tensor) -> bool:
    """Return whether memory holds more than one value: constants are no answer."""
    storage = tensor.untyped_storage()
    memory, item = digest.memory_at(storage.data_ptr(), storage.nbytes()), tensor.element_size()
    return memory[item:] != memory[: len(memory) - item]
