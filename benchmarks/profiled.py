"""Runs known kernels beside a profiler, in a process of its own, just as timed runs go: pause, flush, call.

It is started by `profiler_agreement`: once with torch's profiler in it (which asks the vendor's), whose account of each
launch it prints, and once under a profiler that looks from outside.

    python -m benchmarks.profiled REQUEST.json [--watched]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from torch.profiler import profile, record_function

from benchmarks.known_kernels import KNOWN, Known
from kernelarena.judge.reference import Reference
from kernelarena.judge.timed import Stopwatch
from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.opened import OpenedDevice
from kernelarena.spec import Language, Platform
from kernelarena.spec.base import Model

_PLACES = 4
"""Sets of inputs that calls go round, as in timed runs."""
_PAUSE = 1e-3
"""Seconds in which the host enqueues a call."""
_CALL = "a timed call"
"""What host devices, which launch nothing, are asked for instead of the launch."""


class Request(Model):
    """What is run, and how."""

    platform: Platform
    environment: dict[str, str]
    """Shows the process the device alone."""
    language: Language
    flush: int
    """Bytes that are written before each call."""
    runs: int
    """Of each kernel, the first ones included that only warm it up."""
    kernels: tuple[tuple[str, int], ...]
    """Names of known kernels, and how much work each has."""


def entry(known: Known, language: Language, folder: Path) -> Callable[..., Any]:
    """Return a kernel's entry, from a file, since Triton reads its source there."""
    path = folder / f"{known.name}.py"
    path.write_text(known.kernel(language).files["kernel.py"], encoding="utf-8")
    specification = importlib.util.spec_from_file_location(known.name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    found: Callable[..., Any] = module.entry
    return found


def run(request: Request, device: OpenedDevice, folder: Path) -> None:
    """Run everything, one launch after the other."""
    stream = device.stream()
    stopwatch = Stopwatch(device, stream, request.flush)
    entries = {name: entry(KNOWN[name], request.language, folder) for name, _ in request.kernels}
    for name, work in request.kernels:
        known = KNOWN[name]
        reference = Reference(known.task)
        drawn = [reference.draw(known.shape(work), request.platform, seed, device.device) for seed in range(_PLACES)]
        calls = [partial(entries[name], *inputs.values()) for inputs in drawn]
        device.synchronise()
        results: deque[Any] = deque(maxlen=_PLACES)
        for number in range(request.runs):
            call = _named(calls[number % _PLACES])
            with device.on(stream):
                stopwatch.run([call], results, flush=True, pause=_PAUSE, enqueued=lambda: None)


def _named(call: Callable[[], Any]) -> Callable[[], Any]:
    def named() -> Any:
        with record_function(_CALL):
            return call()

    return named


def launches(trace: Path, host: bool) -> Iterator[float]:
    """Yield the seconds of each launch of a known kernel, in order, from a trace of torch's profiler.

    Parameters
    ----------
    trace
        In Chrome's format: complete events with start and duration in µs.
    host
        Whether the device is the host's processor, which launches nothing: the calls themselves count there.
    """
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    category, names = ("user_annotation", {_CALL}) if host else ("kernel", {known.function for known in KNOWN.values()})
    found = [event for event in events if event.get("cat") == category and event["name"] in names]
    for event in sorted(found, key=lambda event: float(event["ts"])):
        yield float(event["dur"]) * 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("request", type=Path)
    parser.add_argument("--watched", action="store_true", help="a profiler looks from outside: start none here")
    options = parser.parse_args()
    request = Request.model_validate_json(options.request.read_text(encoding="utf-8"))
    os.environ.update(request.environment)
    backend = backend_for(request.platform)
    assert backend is not None
    device = backend.open(0)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        profiler = None if options.watched else profile()
        with profiler or nullcontext():
            run(request, device, folder)
        if profiler is not None:
            profiler.export_chrome_trace(str(folder / "trace.json"))
            json.dump(list(launches(folder / "trace.json", host=device.device.type == "cpu")), sys.stdout)


if __name__ == "__main__":
    main()
