"""Telemetry of one device while something else is measured on it."""

from __future__ import annotations

import json
import logging
import os
import select
import subprocess
import time
from types import TracebackType
from typing import Any

from kernelarena.platforms.asking import command, environment
from kernelarena.platforms.telemetry.errors import TelemetryUnavailable
from kernelarena.platforms.telemetry.schema import Facts, Sample

START_TIMEOUT = 60.0
"""Seconds. A driver that has to be woken takes some of them."""
TIMEOUT = 5.0
"""Seconds that an answer may take; a driver that hangs on a device that fell off its bus would take for ever."""
KEEP = 60_000
"""Samples kept until they are taken: ten minutes at 100 Hz."""

_log = logging.getLogger(__name__)
_said: set[tuple[str, str]] = set()


class Sampler:
    """Samples a device in a process of its own; this process does nothing until it asks for the samples.

    Use as a context manager, and start it before what it shall watch::

        with Sampler.start(backend.telemetry, pci="0000:1b:00", uuid="…") as sampler:
            …
            samples = sampler.take()

    Attributes
    ----------
    facts
        What holds for the device, and what it does not offer.
    lost
        Why there are no more samples; empty while there are. The device may have vanished, or the process that asks
        it may have: either way what was measured since then was not watched.
    overflow, missed
        Samples that nobody took in time and that were dropped; samples that were not taken because the device was slow
        to answer.
    """

    def __init__(self, process: subprocess.Popen[bytes], facts: Facts) -> None:
        self.facts = facts
        self.lost = ""
        self.overflow = 0
        self.missed = 0
        self._process = process
        self._pending = b""

    @classmethod
    def start(cls, source: str, *, pci: str = "", uuid: str = "", hertz: float = 100.0, keep: int = KEEP) -> Sampler:
        """Start sampling, and return when the device has answered for the first time.

        Parameters
        ----------
        source
            ``package.module:Class`` of a :class:`~kernelarena.platforms.telemetry.Probe`, as a backend names it.
        pci, uuid
            What the runtime says of the device; at least one of them.
        hertz
            Samples per second.
        keep
            The most samples to hold until they are taken; beyond it the oldest are dropped, and counted.

        Raises
        ------
        TelemetryUnavailable
            If the device cannot be watched, with why in one line.
        ValueError
            If ``hertz`` or ``keep`` is not positive.
        """
        if not (0 < hertz <= 10_000 and keep > 0):
            raise ValueError(f"cannot sample at {hertz} Hz and keep {keep}")
        order = {"source": source, "pci": pci, "uuid": uuid, "hertz": hertz, "keep": keep}
        process = subprocess.Popen(
            command("kernelarena.platforms.telemetry.worker", order),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt at the terminal is for the process that measures
            env=environment(),
        )
        sampler = cls(process, Facts(source=source, name="", pci=pci))
        hello = sampler._receive(START_TIMEOUT)
        if hello is None or "facts" not in hello:
            sampler.close()
            why = sampler.lost if hello is None else str(hello.get("unavailable"))
            raise TelemetryUnavailable(why)
        sampler.facts = Facts(**hello["facts"])
        _say_once(sampler.facts)
        return sampler

    def take(self) -> list[Sample]:
        """Return the samples since the last call, the last of them taken now; none when the device is lost."""
        if self._process.poll() is None and not self.lost:
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(b"take\n")
                self._process.stdin.flush()
            except OSError:
                self.lost = "the process that samples is gone"
                return []
            answer = self._receive(TIMEOUT)
            if answer is not None:
                self.lost, self.overflow, self.missed = answer["lost"], answer["overflow"], answer["missed"]
                return [Sample.from_row(row) for row in answer["samples"]]
        self.lost = self.lost or "the process that samples is gone"
        return []

    def close(self) -> None:
        """End the process; harmless when repeated."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Sampler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, timeout: float) -> dict[str, Any] | None:
        """Return the next line that the process wrote; None, with the reason in ``lost``, where there is none."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + timeout
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                self.lost = f"the device did not answer within {timeout:.0f} s"
                self._process.kill()
                return None
            chunk = os.read(self._process.stdout.fileno(), 1 << 16)
            if not chunk:
                self.lost = f"the process that samples ended with exit status {self._process.wait()}"
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _say_once(facts: Facts) -> None:
    """Log what a device does not offer, once in the life of this process."""
    key = (facts.pci, ", ".join(facts.missing))
    if facts.missing and key not in _said:
        _said.add(key)
        _log.warning("%s (%s) does not offer: %s", facts.name or "the device", facts.pci, ", ".join(facts.missing))
