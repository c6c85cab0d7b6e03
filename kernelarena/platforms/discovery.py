"""Asking torch which devices it can use, in a short-lived process: the one that asks never touches a runtime."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

PROBE_TIMEOUT = 120.0
"""Seconds. A first import of torch from a network disk takes tens of them; a wedged driver takes for ever."""

_PROBE = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]  # a torch.py in the working directory is not the one meant
import importlib
import json
import torch
kind, plug_in, prefix = sys.argv[1:]
out = {"torch": torch.__version__, "devices": []}
out |= {key: getattr(torch.version, key, None) for key in ("hip", "cuda", "xpu")}
try:
    if plug_in:
        importlib.import_module(plug_in)
    module = torch.get_device_module(kind)
    for index in range(module.device_count()):
        p = module.get_device_properties(index)
        pci = [getattr(p, key, None) for key in ("pci_domain_id", "pci_bus_id", "pci_device_id")]
        out["devices"].append({
            "index": index,
            "name": p.name,
            "arch": p.gcnArchName if out["hip"] else f"{prefix}{p.major}{p.minor}" if prefix else "",
            "uuid": str(getattr(p, "uuid", "")),
            "pci": "" if None in pci else "{:04x}:{:02x}:{:02x}".format(*pci),
        })
except ImportError as error:
    out["problem"] = f"torch's plug-in {plug_in} does not load: {error}"
print("\\n" + json.dumps(out))
"""


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
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE, kind, plug_in, prefix],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT,
            env={key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"the driver did not answer within {PROBE_TIMEOUT:.0f} s"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return {"problem": f"asking torch for devices failed: {last}"}
    return answer
