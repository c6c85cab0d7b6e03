"""The process that samples: ``python -m kernelarena.platforms.telemetry.worker '{"source": …, "hertz": …}'``.

It keeps the samples until they are asked for, so that nothing has to run in the process that measures: one line of JSON
comes in, one goes out.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections import deque
from typing import IO

from kernelarena.platforms.telemetry.errors import DeviceVanished, TelemetryUnavailable
from kernelarena.platforms.telemetry.probe import Probe, one_line, probe_class
from kernelarena.platforms.telemetry.schema import Sample


def take_sample(probe: Probe) -> Sample:
    """Return a sample of now."""
    before = time.monotonic_ns()
    reading = probe.read()
    after = time.monotonic_ns()
    return Sample((before + after) // 2, after - before, reading)


class Recorder:
    """Samples at a steady rate and answers requests in between.

    Make it before anything is said to whoever wants the samples: they may end at any time after that.
    """

    def __init__(self, probe: Probe, hertz: float, keep: int) -> None:
        self._parent = os.getppid()
        self._probe = probe
        self._period = 1.0 / hertz
        self._kept: deque[Sample] = deque(maxlen=keep)
        self._overflow = 0
        self._missed = 0
        self._lost = ""

    def run(self, requests: int, answers: IO[str]) -> None:
        """Sample until there is no one left to ask for it.

        Parameters
        ----------
        requests
            Descriptor from which lines come: ``take`` or ``stop``.
        answers
            Where one line of JSON goes for each ``take``.
        """
        due, pending = time.monotonic(), b""
        while os.getppid() == self._parent:
            # A lost device is never asked again: a driver that is gone may not come back from the call.
            wait = 0.5 if self._lost else max(0.0, min(0.5, due - time.monotonic()))
            if select.select([requests], [], [], wait)[0]:
                chunk = os.read(requests, 4096)
                if not chunk:
                    return
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    if line == b"stop":
                        return
                    self._answer(answers)
            now = time.monotonic()
            if now >= due:
                self.sample()
                behind = int((time.monotonic() - due) / self._period)
                self._missed += behind
                due += (behind + 1) * self._period

    def sample(self) -> None:
        """Keep a sample of now, unless the device is lost."""
        if self._lost:
            return
        try:
            sample = take_sample(self._probe)
        except DeviceVanished as error:
            self._lost = one_line(error)
            return
        self._overflow += len(self._kept) == self._kept.maxlen
        self._kept.append(sample)

    def _answer(self, answers: IO[str]) -> None:
        self.sample()  # so that whatever ended before the request lies between two samples
        rows = [sample.to_row() for sample in self._kept]
        self._kept.clear()
        reply = {"samples": rows, "overflow": self._overflow, "missed": self._missed, "lost": self._lost}
        answers.write(json.dumps(reply, separators=(",", ":")) + "\n")
        answers.flush()


def main(arguments: list[str]) -> None:
    """Open the device, say what it is, and sample it."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # vendors' libraries write on stdout when they feel like it
    order = json.loads(arguments[0])
    try:
        cls = probe_class(order["source"])
        for name, value in cls.environment.items():
            os.environ.setdefault(name, value)
        probe = cls.open(order["pci"], order["uuid"])
    except (TelemetryUnavailable, DeviceVanished) as error:
        answers.write(json.dumps({"unavailable": one_line(error)}) + "\n")
        answers.flush()
        return
    recorder = Recorder(probe, order["hertz"], order["keep"])
    recorder.sample()  # whatever starts after the greeting starts after a sample
    answers.write(json.dumps({"facts": probe.facts.to_dict()}) + "\n")
    answers.flush()
    try:
        recorder.run(0, answers)
    finally:
        probe.close()


if __name__ == "__main__":
    main(sys.argv[1:])
