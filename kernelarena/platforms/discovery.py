"""Asking torch which devices it can use, in a short-lived process: the one that asks never touches a runtime.

Run as a program, it is that process.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

from kernelarena.platforms.asking import Question, environment

SECONDS = 120.0
"""A first import of torch from a network disk takes tens of them; a wedged driver takes for ever."""
_MODULE = "kernelarena.platforms.discovery"


def ask_torch(kind: str, plug_in: str = "", prefix: str = "") -> dict[str, Any]:
    """Return what torch says of its devices of one kind.

    Parameters
    ----------
    kind
        What torch calls them: ``cuda``, ``xpu``.
    plug_in
        The module that teaches torch this kind; empty where torch knows it.
    prefix
        Before the two numbers of a device's capability, to name its architecture (``sm_``); empty where it has none.

    Returns
    -------
    dict
        ``torch``, its version; ``hip``, ``cuda`` and ``xpu``, the runtimes' versions that it was built for, or None;
        ``devices``, the fields of each :class:`~kernelarena.platforms.backend.Device`; or ``problem``, in one line.
    """
    order = {"kind": kind, "plug_in": plug_in, "prefix": prefix}
    plain = {name: value for name, value in environment().items() if name != "TRITON_INTERPRET"}
    with Question(_MODULE, order, SECONDS, plain) as question:
        answer = question.answer()
    if "problem" in answer:
        return {"problem": f"asking torch for devices failed: {answer['problem']}"}
    return answer


def _tell(kind: str, plug_in: str, prefix: str) -> dict[str, Any]:
    import torch

    try:
        if plug_in:
            importlib.import_module(plug_in)
    except ImportError as error:
        return {"problem": f"torch's plug-in {plug_in} does not load: {error}"}
    module = torch.get_device_module(kind)
    runtimes = {key: getattr(torch.version, key, None) for key in ("hip", "cuda", "xpu")}
    devices = []
    for index in range(module.device_count()):
        told = module.get_device_properties(index)
        pci: list[Any] = [getattr(told, key, None) for key in ("pci_domain_id", "pci_bus_id", "pci_device_id")]
        capability = f"{prefix}{told.major}{told.minor}" if prefix else ""
        devices.append(
            {
                "index": index,
                "name": told.name,
                "arch": told.gcnArchName if runtimes["hip"] else capability,
                "uuid": str(getattr(told, "uuid", "")),
                "pci": "" if None in pci else "{:04x}:{:02x}:{:02x}".format(*pci),
            }
        )
    return {"torch": torch.__version__, **runtimes, "devices": devices}


if __name__ == "__main__":
    print("\n" + json.dumps(_tell(**json.loads(sys.argv[1]))))
