"""The conformance suite over the backends of the package: without a device, over fake ones, and on a GPU."""

import os

import pytest

from kernelarena.platforms.backend import backend_for
from kernelarena.platforms.catalogue import load
from kernelarena.platforms.cpu import CpuBackend
from kernelarena.spec import Evidence
from kernelarena.testing.backend import BackendConformance
from tests.testing import fakes


class TestCpu(BackendConformance):
    kind = CpuBackend
    chip = "cpu"


class OverFake(BackendConformance):
    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def runtime(cls):
        """Stand in for a vendor's runtime, in this process and in those that it starts."""
        cls.kind, facts = fakes.CHIPS[cls.chip]
        with pytest.MonkeyPatch.context() as patch:
            for name in cls.kind.visibility.names:
                patch.delenv(name, raising=False)
            patch.setenv("FAKE_TORCH", fakes.runtime(cls.kind, **facts))
            patch.setenv("PYTHONPATH", os.pathsep.join([str(fakes.FOLDER), os.environ.get("PYTHONPATH", "")]))
            patch.syspath_prepend(str(fakes.FOLDER))
            yield

    def test_there_are_devices_and_they_are_measured(self, backend, platform):
        """The rest of the suite would be skipped without; and no declared chip may claim more."""
        assert len(backend.present(platform)) == 2
        assert backend.availability(platform).evidence[0] is Evidence.MEASURED
        if not platform.limits:
            assert backend.availability(platform).evidence == (Evidence.MEASURED,)


class TestCuda(OverFake):
    chip = "h200"


class TestRocm(OverFake):
    chip = "mi300"


class TestXpu(OverFake):
    chip = "b580"


class TestNpu(OverFake):
    chip = "ascend910b"


class TestMusa(OverFake):
    chip = "mtt-s4000"


class TestCorex(OverFake):
    chip = "bi-v150"


class TestMaca(OverFake):
    chip = "metax-c500"


class TestDtk(OverFake):
    chip = "hygon-dcu"


def test_a_device_is_found_again_though_the_user_shows_it_by_another_variable(monkeypatch):
    """A cluster may have set HIP's; ours is ROCr's; the two together would show nothing."""
    _, facts = fakes.CHIPS["mi300"]
    monkeypatch.setenv("FAKE_TORCH", fakes.runtime(fakes.Rocm, **{**facts, "identifiers": ("", "")}))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(fakes.FOLDER), os.environ.get("PYTHONPATH", "")]))
    for name in fakes.Rocm.visibility.names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    (device,) = fakes.Rocm().devices()
    assert (device.index, device.pci) == (0, "0000:07:00")
    access = fakes.Rocm().access(device)
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", access.environment["ROCR_VISIBLE_DEVICES"])
    assert fakes.Rocm().devices() == []
    monkeypatch.delenv("HIP_VISIBLE_DEVICES")
    assert access.within({**os.environ, "HIP_VISIBLE_DEVICES": "1"}) == dict(os.environ)
    assert fakes.Rocm().devices() == [device]


@pytest.mark.gpu
class TestHere(BackendConformance):
    """On whatever device this host has."""

    @pytest.fixture(scope="class")
    @classmethod
    def platform(cls):
        for platform in load().values():
            backend = backend_for(platform)
            if backend is not None and backend.present(platform):
                return platform
        return pytest.skip("no backend finds a device in this host")

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls, platform):
        return backend_for(platform)
