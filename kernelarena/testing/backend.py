"""What every backend must do, as tests that any of them can run.

Subclass :class:`BackendConformance` in a test module, and say which backend and which chip::

    from kernelarena.testing.backend import BackendConformance
    from kernelarena_acme import AcmeBackend

    class TestAcme(BackendConformance):
        kind = AcmeBackend
        chip = "acme1"

Tests that need the chip are skipped, with the reason, on hosts that have none; so are those of what a device need not
be able to do. Nothing in the process that runs the tests touches a device.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from kernelarena.platforms.backend import Availability, Backend, Device
from kernelarena.platforms.catalogue import load, resolve
from kernelarena.spec import Evidence, Language, Platform
from kernelarena.testing import on_device
from kernelarena.testing.nursery import Nursery, Skipped

_STRENGTH = (Evidence.MEASURED, Evidence.EMULATED, Evidence.COMPILED)


class BackendConformance:
    """The contract of :class:`~kernelarena.platforms.backend.Backend`, and of the devices that one opens."""

    kind: ClassVar[type[Backend]]
    """The backend."""
    chip: ClassVar[str]
    """The id or an alias of one of its platforms: one that is in this host, if any is."""

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        """Return the backend, made as by an entry point."""
        return cls.kind()

    @pytest.fixture(scope="class")
    @classmethod
    def platform(cls) -> Platform:
        """Return the chip."""
        return resolve(cls.chip, load())[0]

    @pytest.fixture(scope="class")
    @classmethod
    def device(cls, backend: Backend, platform: Platform) -> Device:
        """Return the first device that is the chip."""
        present = backend.present(platform)
        if not present:
            pytest.skip(f"no {platform.title} in this host: {backend.availability(platform).why_not}")
        return present[0]

    @pytest.fixture(scope="class")
    @classmethod
    def nursery(cls) -> Iterator[Nursery]:
        """Run what touches a device in processes of its own."""
        with Nursery() as nursery:
            yield nursery

    @pytest.fixture
    def on(self, nursery: Nursery, backend: Backend, platform: Platform, device: Device) -> Callable[..., Any]:
        """Return what runs a function with the device opened; skips where kernels are not run on it."""
        if Evidence.MEASURED not in backend.availability(platform).evidence:
            pytest.skip(f"kernels are not run on it: {backend.availability(platform).why_not}")

        def run(function: Callable[..., Any]) -> Any:
            try:
                return nursery.run(function, backend, backend.access(device))
            except Skipped as skipped:
                pytest.skip(str(skipped))

        return run

    # What it says of itself

    def test_its_name_is_what_platform_files_call_it(self, backend: Backend, platform: Platform) -> None:
        """``backend: acme`` finds the backend whose name is ``acme``."""
        assert backend.name == platform.backend

    def test_it_takes_languages_that_there_are(self, backend: Backend) -> None:
        """At least one."""
        assert backend.languages
        assert set(backend.languages) <= set(Language)

    def test_it_is_made_without_arguments_and_travels(self, backend: Backend) -> None:
        """Workers make their own; what was found out may be sent to them."""
        assert type(backend)().name == backend.name
        backend.devices()
        assert pickle.loads(pickle.dumps(backend)).devices() == backend.devices()

    def test_it_has_nothing_against_its_own_chip(self, backend: Backend, platform: Platform) -> None:
        """The platform file of the test is right."""
        assert backend.problems(platform) == []

    def test_a_target_of_triton_has_three_parts(self, backend: Backend, platform: Platform) -> None:
        """Or there is none."""
        target = backend.triton_target(platform)
        if target is not None:
            name, arch, lanes = target
            assert name
            assert isinstance(arch, int | str)
            assert lanes > 0
            assert lanes & (lanes - 1) == 0

    # What it finds

    def test_devices_are_told_apart(self, backend: Backend) -> None:
        """By consecutive numbers; the parts of one chip may share everything else."""
        found = backend.devices()
        assert [device.index for device in found] == list(range(len(found)))
        assert all(device.name for device in found)

    def test_looking_again_finds_the_same_and_leaves_the_process_fit_to_fork(
        self, nursery: Nursery, backend: Backend, device: Device
    ) -> None:
        """Kernels run in processes that are forked from one that has looked."""
        found = backend.devices()
        assert backend.devices() == found
        assert nursery.run(on_device.discovers_and_forks, backend, backend.access(device)) == found

    def test_a_chip_is_recognised_by_its_name_and_no_other_chip_is_taken_for_it(
        self, backend: Backend, platform: Platform
    ) -> None:
        """Names are compared by whole words, architectures to the letter."""
        arch = platform.detect.arch or platform.arch
        for name in platform.detect.names:
            assert backend.match(Device(0, name, arch), platform)
            for other in (f"{name}X", f"X{name}", ""):
                assert not backend.match(Device(0, other, arch), platform)
            if platform.detect.arch:
                assert not backend.match(Device(0, name, f"{arch}0"), platform)
        if not platform.detect.names and platform.detect.arch is None:
            assert not backend.match(Device(0, platform.title, arch), platform)

    def test_no_device_is_two_chips(self, backend: Backend, platform: Platform) -> None:
        """Among all chips that are declared here."""
        declared = {**load(), platform.id: platform}.values()
        for device in backend.devices():
            chips = [chip.id for chip in declared if chip.backend == backend.name and backend.match(device, chip)]
            assert len(chips) <= 1, device

    def test_evidence_is_what_can_be_had(self, backend: Backend, platform: Platform) -> None:
        """The strongest first; measured only where the chip is; and why not more, in one line."""
        found = backend.availability(platform)
        assert isinstance(found, Availability)
        assert list(found.evidence) == [kind for kind in _STRENGTH if kind in found.evidence]
        if Evidence.MEASURED in found.evidence:
            assert backend.present(platform)
        else:
            assert found.why_not
            assert "\n" not in found.why_not

    # What it gives access to

    def test_a_process_is_shown_one_device_alone(
        self, nursery: Nursery, backend: Backend, platform: Platform, device: Device
    ) -> None:
        """As number 0, whichever it is here."""
        last = backend.present(platform)[-1]
        (shown,) = nursery.run(on_device.devices, backend, backend.access(last))
        assert shown.index == 0
        assert (shown.name, shown.arch, shown.uuid, shown.pci) == (last.name, last.arch, last.uuid, last.pci)

    def test_access_is_plain(self, backend: Backend, device: Device) -> None:
        """Absolute paths, and variables of text; none is both set and unset in the end."""
        access = backend.access(device)
        assert all(path.startswith("/") for path in access.paths)
        result = access.within(dict.fromkeys(access.unset, "1"))
        assert result == dict(access.environment)
        assert all(isinstance(value, str) for value in result.values())

    # What it opens

    def test_the_framework_computes_on_it(self, on: Callable[..., Any]) -> None:
        """In a process that was forked."""
        on(on_device.computes)

    def test_a_device_that_is_not_there_is_a_runtime_error(self, on: Callable[..., Any]) -> None:
        """And nothing else: it is reported as infrastructure."""
        on(on_device.refuses_what_is_not_there)

    def test_memory_is_accounted_for(self, on: Callable[..., Any], platform: Platform) -> None:
        """What is held is not free, and no chip has more than its platform file says."""
        total = on(on_device.tells_its_memory)
        assert platform.memory is None or total <= platform.memory.bytes

    def test_memory_can_be_limited(self, on: Callable[..., Any]) -> None:
        """More than the limit is refused, and the device remains usable."""
        on(on_device.limits_its_memory)

    def test_streams_have_handles(self, on: Callable[..., Any]) -> None:
        """By which they are found again."""
        on(on_device.has_streams)

    def test_marks_tell_time(self, on: Callable[..., Any]) -> None:
        """In the order of their stream."""
        on(on_device.marks_tell_time)

    def test_a_delay_holds_its_stream_and_no_other(self, on: Callable[..., Any]) -> None:
        """For about as long as was asked."""
        on(on_device.delays_a_stream)

    def test_settings_stay(self, on: Callable[..., Any]) -> None:
        """Unless somebody changes them."""
        on(on_device.has_settings)

    def test_memory_is_shared_with_another_process(self, on: Callable[..., Any]) -> None:
        """Both ways."""
        on(on_device.shares_memory)
