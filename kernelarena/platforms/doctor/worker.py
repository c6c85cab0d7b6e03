"""The process that touches what may hang or crash: ``python -m kernelarena.platforms.doctor.worker '{"about": …}'``.

It answers one question with one line of JSON, and ends.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from kernelarena.platforms.backend import backend_named
from kernelarena.platforms.telemetry.errors import DeviceVanished, TelemetryUnavailable
from kernelarena.platforms.telemetry.probe import one_line, probe_class

WORKER = __name__ if __name__ != "__main__" else "kernelarena.platforms.doctor.worker"
_ELEMENTS = 1 << 20
_PROPERTIES = (
    "name", "total_memory", "multi_processor_count", "warp_size", "max_threads_per_block", "shared_memory_per_block",
    "shared_memory_per_block_optin", "L2_cache_size",
)  # fmt: skip


def _import(order: Mapping[str, Any]) -> dict[str, Any]:
    """Import a module."""
    importlib.import_module(order["module"])
    return {}


def _device(order: Mapping[str, Any]) -> dict[str, Any]:
    """Open the one device that this process is shown, compute something on it, and tell of it."""
    backend = backend_named(order["backend"])
    if backend is None:
        return {"problem": f"there is no backend '{order['backend']}'"}
    opened = backend.open(0)
    import torch

    free, total = opened.memory()
    began, ended, stream = opened.marks(), opened.marks(), opened.stream()
    opened.synchronise()
    with opened.on(stream):
        began.record(stream)
        ones = torch.ones(_ELEMENTS, device=opened.device)
        found = (ones + ones).sum()
        ended.record(stream)
    opened.synchronise()
    if found.item() != 2 * _ELEMENTS:
        return {"problem": f"a sum that is {2 * _ELEMENTS} came out as {found.item()}"}
    exchange = opened.exchange()
    properties = torch.get_device_module(opened.device).get_device_properties(opened.device)
    told = {name: getattr(properties, name) for name in _PROPERTIES if hasattr(properties, name)}
    return {
        "free": free,
        "total": total,
        "milliseconds": began.elapsed_time(ended),
        "shared": exchange is not None,
        "properties": told,
        "torch": torch.__version__,
    }


def _management(order: Mapping[str, Any]) -> dict[str, Any]:
    """Find a device in its vendor's management library, and tell what that says of it."""
    cls = probe_class(order["source"])
    for name, value in cls.environment.items():
        os.environ.setdefault(name, value)
    probe = cls.open(order["pci"], order["uuid"])
    try:
        return {"facts": probe.facts.to_dict(), "condition": probe.condition().to_dict()}
    finally:
        probe.close()


_ABOUT: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "device": _device,
    "import": _import,
    "management": _management,
}


def main(arguments: list[str]) -> None:
    """Answer the question that the first argument asks."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # vendors' libraries write on stdout when they feel like it
    order = json.loads(arguments[0])
    try:
        answer = _ABOUT[order["about"]](order)
    except (TelemetryUnavailable, DeviceVanished, ImportError, OSError, RuntimeError, MemoryError) as error:
        answer = {"problem": one_line(error)}
    except Exception as error:  # a vendor's package may raise whatever it likes
        answer = {"problem": f"{type(error).__name__}: {one_line(error)}"}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    os._exit(0)  # a runtime that is broken may not survive its own end


if __name__ == "__main__":
    main(sys.argv[1:])
