"""Backends with one fault each, and two without, over the host's processor.

``fails`` names the test of the suite that must notice, and the only one. ``test_conformance.py`` runs this, with
``tests/judge/plugin`` on the path.
"""

import atexit
import os
import time

import pytest
from host_backend import HostBackend, HostDevice, Mark

from kernelarena.judge.memory import HostExchange
from kernelarena.platforms.backend import Access, Availability, Device
from kernelarena.spec import Evidence
from kernelarena.testing.backend import BackendConformance
from kernelarena.testing.nursery import Nursery
from tests.judge.test_measuring import PLATFORM

NURSERY = Nursery()
atexit.register(NURSERY.close)


class Suite(BackendConformance):
    fails = ""

    @pytest.fixture(scope="class")
    @classmethod
    def platform(cls):
        return PLATFORM

    @pytest.fixture(scope="class")
    @classmethod
    def nursery(cls):
        """One for all: to start it takes longer than all tests of a backend."""
        return NURSERY


class Opening(HostBackend):
    """A backend whose devices are of another class."""

    device = HostDevice

    def open(self, index):
        super().open(index)
        return self.device()


class TestNoFault(Suite):
    kind = HostBackend


class BoundedExchange(HostExchange):
    def allocate(self, size, fences=()):
        if size > HostDevice.total:
            raise MemoryError
        return super().allocate(size, fences)


class SharingDevice(HostDevice):
    def exchange(self):
        return BoundedExchange()


class Sharing(Opening):
    device = SharingDevice


class TestNoFaultWithSharedMemory(Suite):
    kind = Sharing


class Misnamed(HostBackend):
    name = "hosts"


class TestMisnamed(Suite):
    kind = Misnamed
    fails = "test_its_name_is_what_platform_files_call_it"


class Mute(HostBackend):
    languages = ()


class TestMute(Suite):
    kind = Mute
    fails = "test_it_takes_languages_that_there_are"


class Forgetful(HostBackend):
    """Finds nothing any more once it has travelled."""

    lost = False

    def __reduce__(self):
        return _lost, ()

    def devices(self):
        return [] if self.lost else super().devices()

    def open(self, index):
        return HostBackend().open(index)


def _lost():
    backend = Forgetful()
    backend.lost = True
    return backend


class TestForgetful(Suite):
    kind = Forgetful
    fails = "test_it_is_made_without_arguments_and_travels"


class Picky(HostBackend):
    architectures = ("other",)


class TestPicky(Suite):
    kind = Picky
    fails = "test_it_has_nothing_against_its_own_chip"


class Odd(HostBackend):
    def triton_target(self, platform):
        return "host", "host", 24


class TestOdd(Suite):
    kind = Odd
    fails = "test_a_target_of_triton_has_three_parts"


class Touching(HostBackend):
    touched = None

    def devices(self):
        type(self).touched = type(self).touched or os.getpid()
        return super().devices()

    def open(self, index):
        if type(self).touched not in (None, os.getpid()):
            raise RuntimeError("cannot be used in a forked process")
        return super().open(index)


class TestTouching(Suite):
    kind = Touching
    fails = "test_looking_again_finds_the_same_and_leaves_the_process_fit_to_fork"


class Miscounting(HostBackend):
    def devices(self):
        return [Device(device.index + 1, device.name, device.arch) for device in super().devices()]


class TestMiscounting(Suite):
    kind = Miscounting
    fails = "test_devices_are_told_apart test_a_process_is_shown_one_device_alone"


class Loose(HostBackend):
    def match(self, device, platform):
        return platform.detect.names[0] in device.name


class TestLoose(Suite):
    kind = Loose
    fails = "test_a_chip_is_recognised_by_its_name_and_no_other_chip_is_taken_for_it"


class Boasting(HostBackend):
    def devices(self):
        return []


class TestBoasting(Suite):
    kind = Boasting
    fails = "test_evidence_is_what_can_be_had"


class Rambling(HostBackend):
    def availability(self, platform):
        return Availability((), "first\nsecond")


class TestRambling(Suite):
    kind = Rambling
    fails = "test_evidence_is_what_can_be_had"


class Backwards(HostBackend):
    def availability(self, platform):
        return Availability((Evidence.COMPILED, Evidence.MEASURED))


class TestBackwards(Suite):
    kind = Backwards
    fails = "test_evidence_is_what_can_be_had"


class Open(HostBackend):
    def access(self, device):
        return Access()


class TestOpen(Suite):
    kind = Open
    fails = "test_a_process_is_shown_one_device_alone"


class Torn(HostBackend):
    def access(self, device):
        access = super().access(device)
        return Access(("dev/host",), access.environment)


class TestTorn(Suite):
    kind = Torn
    fails = "test_access_is_plain"


class Obliging(HostBackend):
    def open(self, index):
        return super().open(0)


class TestObliging(Suite):
    kind = Obliging
    fails = "test_a_device_that_is_not_there_is_a_runtime_error"


class Unlimited(Opening):
    class device(HostDevice):
        def limit_memory(self, size):
            return True


class TestUnlimited(Suite):
    kind = Unlimited
    fails = "test_memory_can_be_limited"


class Hoarding(Opening):
    class device(HostDevice):
        def memory(self):
            return 2 * self.total, self.total


class TestHoarding(Suite):
    kind = Hoarding
    fails = "test_memory_is_accounted_for"


class OneStream(Opening):
    class device(HostDevice):
        def number(self, stream):
            return 0


class TestOneStream(Suite):
    kind = OneStream
    fails = "test_streams_have_handles"


class BackwardMark(Mark):
    def elapsed_time(self, other):
        return -1.0 - super().elapsed_time(other)


class Rewinding(Opening):
    class device(HostDevice):
        def marks(self):
            return BackwardMark()


class TestRewinding(Suite):
    kind = Rewinding
    fails = "test_marks_tell_time"


class Queue:
    """All streams in one."""

    busy_until = 0.0

    @classmethod
    def synchronize(cls):
        time.sleep(max(0.0, cls.busy_until - time.perf_counter()))


class QueuedMark(Mark):
    def record(self, stream):
        self.at = max(time.perf_counter(), Queue.busy_until)

    def query(self):
        return time.perf_counter() >= self.at

    def synchronize(self):
        time.sleep(max(0.0, self.at - time.perf_counter()))


class Queueing(Opening):
    class device(HostDevice):
        def marks(self):
            return QueuedMark()

        def delay(self, seconds):
            Queue.busy_until = time.perf_counter() + seconds


class TestQueueing(Suite):
    kind = Queueing
    fails = "test_a_delay_holds_its_stream_and_no_other"


class Restless(Opening):
    class device(HostDevice):
        def settings(self):
            return (time.perf_counter_ns(),)


class TestRestless(Suite):
    kind = Restless
    fails = "test_settings_stay"


class DeafExchange(BoundedExchange):
    def attach(self, descriptor, fences=()):
        os.close(descriptor)
        return HostExchange().allocate(3 * self.page)


class DeafDevice(HostDevice):
    def exchange(self):
        return DeafExchange()


class Deaf(Opening):
    device = DeafDevice


class TestDeaf(Suite):
    kind = Deaf
    fails = "test_memory_is_shared_with_another_process"
