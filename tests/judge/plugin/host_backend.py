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

    def stream(self):
        return Stream()

    def number(self, stream):
        return id(stream)

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
        return [Device(0, "Host Processor", "host"), Device(1, "Host Processor", "host")]

    def availability(self, platform):
        return Availability((Evidence.MEASURED,))

    def access(self, device):
        refuse = {REFUSE: "1"} if os.environ.get(REFUSE_OTHERS) else {}
        return Access((), {MARK: str(device.index), **refuse})

    def open(self, index):
        if os.environ.get(REFUSE):
            raise RuntimeError("no such device any more")
        return HostDevice()
