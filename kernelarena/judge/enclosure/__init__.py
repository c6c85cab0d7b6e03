"""What encloses the process that a kernel runs in: namespaces, files, users, and few system calls.

Layers are put on one by one, and each does without the others: :mod:`~kernelarena.judge.enclosure.probe` finds out
which of them a host allows, and what is missing is known by name and reason (:class:`Isolation`). No module here
imports torch, so that a host can be looked at in a moment.
"""

from kernelarena.judge.enclosure.layers import SWITCH, Isolation, Layer

__all__ = ["SWITCH", "Isolation", "Layer"]
