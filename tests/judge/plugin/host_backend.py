"""A backend as another distribution may bring it, whose device is the host's processor: no streams, no shared memory.

It lets the whole way of a measured verdict run where there is no device: only what a driver does is not in it.
"""

import contextlib
import os

import torch

from kernelarena.platforms.backend import Access, Availability, Backend, Device
from kernelarena.spec import Evidence, Language

MARK = "HOST_BACKEND_SHOWN"


class Stream:
    def synchronize(self):
        pass


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

    def on(self, stream):
        return contextlib.nullcontext()

    def delay(self, seconds):
        pass


class HostBackend(Backend):
    name = "host"
    languages = (Language.TORCH,)

    def devices(self):
        return [Device(0, "Host Processor", "host"), Device(1, "Host Processor", "host")]

    def availability(self, platform):
        return Availability((Evidence.MEASURED,))

    def access(self, device):
        return Access((), {MARK: str(device.index)})

    def open(self, index):
        if os.environ.get("HOST_BACKEND_REFUSES"):
            raise RuntimeError("no such device any more")
        return HostDevice()
