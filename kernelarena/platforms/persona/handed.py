"""Tells a kernel that computed an output from one that was handed it and carried it over.

Operators are observed where torch dispatches them, and host code has other means: another thread, another process,
NumPy, plain Python. Whatever they are, a launch must be handed what they came to. So the bytes of whatever is handed to
a launch, and did not come out of another one, are remembered; an output that is the same, byte by byte, was no
kernel's work.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kernelarena.platforms.persona import digest
from kernelarena.platforms.persona.ledger import Ledger

Before = Sequence[tuple[torch.Tensor, set[bytes]]]


class Handed:
    """What launches were handed, where launches take place in this process's memory.

    What a launch of an earlier call made may be handed to one of this call: a workspace that is kept, still holding
    what it held, is about to be written again.

    Parameters
    ----------
    ledger
        Entries of all storages.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._foreign: set[bytes] = set()
        self._made: set[bytes] = set()

    def next_call(self) -> None:
        """Start the next call: nothing has been handed to any launch of it."""
        self._foreign.clear()

    def launching(self, tensors: Sequence[torch.Tensor]) -> Before:
        """Note what a launch is about to be handed; what it returns is for :meth:`launched`."""
        before = [(tensor, digest.of_form(tensor)) for tensor in tensors]
        for tensor, digests in before:
            entry = self._ledger.find(tensor)
            if entry is None or not (entry.argument or entry.derived):
                self._foreign |= digests - self._made
        return before

    def launched(self, before: Before) -> None:
        """Note what the launch made of it."""
        for tensor, digests in before:
            self._made |= digest.of_form(tensor) - digests - self._foreign

    def was(self, output: torch.Tensor) -> bool:
        """Return whether a launch was handed exactly what ``output`` holds.

        What an argument holds too may be handed to a launch in a copy, and come back.
        """
        held = digest.of_elements(output)
        if held is None or held not in self._foreign:
            return False
        return all(held != digest.of_elements(argument) for argument in self._ledger.arguments())
