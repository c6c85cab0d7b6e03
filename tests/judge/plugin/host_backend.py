"""A backend as another distribution may bring it, whose device is the host's processor: no streams, no shared memory.

It lets the whole way of a measured verdict run where there is no device: only what a driver does is not in it.
"""

import contextlib
import os
import time

import torch

from kernelarena.platforms.backend import Access, Availability, Backend, Device
from kernelarena.spec import Evidence, Language

MARK = "HOST_BACKEND_SHOWN"
REFUSE = "HOST_BACKEND_REFUSES"
REFUSE_OTHERS = "HOST_BACKEND_REFUSES_OTHERS"
"""Whether it opens in the process that asks, and in those that kernels run in."""


class Stream:
    def synchronize(self):
        pass


class Mark:
    """A mark on a stream that is done with everything at once."""

    def record(self, stream):
        self.at = time.perf_counter()

    def query(self):
        return True

    def synchronize(self):
        pass

    def elapsed_time(self, other):
        return (other.at - self.at) * 1e3


class HostDevice:
    device = torch.device("cpu")
    total = 64 << 30

    def __init__(self):
        self.streams = {0: Stream()}

    def exchange(self):
        return None

    def synchronise(self):
        pass

    def trim(self):
        pass

    def memory(self):
        return self.total, self.total

    def limit_memory(self, size):
        assert 0 < size < self.total
        return False

    def stream(self):
        number = len(self.streams)
        self.streams[number] = Stream()
        return self.streams[number]

    def number(self, stream):
        return next(number for number, known in self.streams.items() if known is stream)

    def numbered(self, number):
        return self.streams[number]

    def settings(self):
        return ()

    def on(self, stream):
        return contextlib.nullcontext()

    def delay(self, seconds):
        pass

    def marks(self):
        return Mark()

    def scratch(self, size):
        return torch.empty(size, dtype=torch.uint8)


class HostBackend(Backend):
    name = "host"
    languages = (Language.TORCH,)

    def devices(self):
        shown = [0] if MARK in os.environ else [0, 1]
        return [Device(number, "Host Processor", "host") for number in shown]

    def availability(self, platform):
        return Availability((Evidence.MEASURED,))

    def access(self, device):
        refuse = {REFUSE: "1"} if os.environ.get(REFUSE_OTHERS) else {}
        return Access((), {MARK: str(device.index), **refuse})

    def open(self, index):
        if os.environ.get(REFUSE):
            raise RuntimeError("no such device any more")
        if index >= len(self.devices()):
            raise RuntimeError(f"no device of number {index}")
        return HostDevice()
