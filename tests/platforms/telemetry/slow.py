"""Probes of no vendor: what a third party would bring along."""

import os
import time

from kernelarena.platforms.telemetry import Facts, Probe, Reading


class Steady(Probe):
    """Counts its readings as joules, and says who asks."""

    def __init__(self):
        self.facts = Facts(source="steady", name="a device", pci="0000:01:00.0")
        self._count = 0

    @classmethod
    def open(cls, pci, uuid):
        print("noise on stdout")
        return cls()

    def read(self):
        self._count += 1
        return Reading(power_w=float(os.getpid()), energy_j=float(self._count))

    def close(self):
        pass


class Slow(Steady):
    def read(self):
        time.sleep(0.05)
        return super().read()


class Dying(Steady):
    def read(self):
        if self._count:
            os._exit(7)
        return super().read()
