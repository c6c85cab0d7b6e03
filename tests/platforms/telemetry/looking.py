"""Looks at a device once, in a process of its own, since a vendor's package keeps the library that it finds."""

from __future__ import annotations

from kernelarena.platforms.asking import Question
from kernelarena.platforms.doctor.worker import WORKER
from kernelarena.platforms.telemetry import Condition


def condition(source, *, pci="", uuid="") -> Condition:
    order = {"about": "management", "source": source, "pci": pci, "uuid": uuid}
    with Question(WORKER, order, 60) as question:
        return Condition.from_dict(question.answer()["condition"])
