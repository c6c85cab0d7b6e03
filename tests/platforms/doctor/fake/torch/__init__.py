"""A stand-in for torch that has devices: as many as FAKE_DEVICES says, of those what the runtime's variables show.

It does what is asked of torch by who looks for devices and opens one, and nothing else.
"""

import contextlib
import json
import os
import time
import types

from torch import version

__version__ = version.__version__
bool = bool


class device:
    def __init__(self, kind, index=0):
        self.type, self.index = kind, index


class Tensor:
    def __init__(self, value, count):
        self.value, self.count = value, count

    def __add__(self, other):
        return Tensor(self.value + other.value, self.count)

    def sum(self):
        return Tensor(self.value * self.count * float(os.environ.get("FAKE_ERROR", "1")), 1)

    def item(self):
        return self.value


def ones(count, device):
    return Tensor(1, count)


def zeros(count, device):
    _shown(device)
    while os.environ.get("FAKE_WEDGED"):  # a device that is found, and never opens
        time.sleep(1)
    return Tensor(0, count)


def _by(variable, devices):
    """Return what a variable leaves of some devices: by number, or by the identifiers that it takes."""
    if variable not in os.environ:
        return devices
    chosen = []
    for word in filter(None, os.environ[variable].split(",")):
        found = [one for one in devices if word in ("GPU-" + one.get("serial", ""), "GPU-" + one.get("uuid", ""))]
        if word.isdecimal() and int(word) < len(devices):
            found = [devices[int(word)]]
        if not found:
            break  # as the runtimes do: the first that is not there ends the list
        chosen += found
    return chosen


def _devices():
    devices = json.loads(os.environ["FAKE_DEVICES"])
    if version.hip:
        devices = _by("ROCR_VISIBLE_DEVICES", devices)
        return _by("HIP_VISIBLE_DEVICES" if "HIP_VISIBLE_DEVICES" in os.environ else "CUDA_VISIBLE_DEVICES", devices)
    return _by("CUDA_VISIBLE_DEVICES", devices)


def _shown(which):
    index = getattr(which, "index", which)
    found = _devices()
    if index >= len(found):
        raise RuntimeError("No HIP GPUs are available" if version.hip else "No CUDA GPUs are available")
    return found[index]


class _Event:
    def __init__(self, enable_timing=False):
        self.at = 0

    def record(self, stream=None):
        self.at = time.monotonic_ns()

    def elapsed_time(self, later):
        return (later.at - self.at) / 1e6


class _Stream:
    def __init__(self, device=None):
        self.cuda_stream = id(self)


def _properties(which):
    about = _shown(which)
    if "serial" in about:  # HIP puts the digits into the bytes of the UUID, and torch prints those
        text = about["serial"].encode().hex()
        about = {**about, "uuid": "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))}
    return types.SimpleNamespace(**about)


def _memory(which):
    total = _shown(which)["total_memory"]
    return int(total * float(os.environ.get("FAKE_FREE", "0.99"))), total


cuda = types.SimpleNamespace(
    device_count=lambda: len(_devices()),
    get_device_properties=_properties,
    mem_get_info=_memory,
    synchronize=lambda which=None: None,
    current_stream=lambda which=None: _Stream(),
    stream=lambda stream: contextlib.nullcontext(),
    Stream=_Stream,
    Event=_Event,
    _sleep=lambda ticks: None,
)


def get_device_module(which):
    return cuda
