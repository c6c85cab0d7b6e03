import os

import pytest

from tests.platforms.telemetry.build import build_amd_smi, build_nvml, needs, path


@pytest.fixture(scope="session")
def amd_smi(tmp_path_factory):
    """A folder as ROCm's, with the stand-in for libamd_smi.so."""
    needs("amdsmi")
    folder = tmp_path_factory.mktemp("amd_smi")
    build_amd_smi(folder)
    return folder


@pytest.fixture(scope="session")
def nvml(tmp_path_factory):
    """A folder with the stand-in for libnvidia-ml.so.1."""
    needs("pynvml")
    folder = tmp_path_factory.mktemp("nvml")
    build_nvml(folder)
    return folder


@pytest.fixture
def host(monkeypatch):
    """Make the processes that the test starts see the stand-in in a folder, as the host that the variables describe."""

    def become(folder, **variables):
        for name in list(os.environ):
            if name.startswith(("AMD_STUB", "NVML_STUB")):
                monkeypatch.delenv(name)
        monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
        monkeypatch.setenv("ROCM_PATH", str(folder))
        monkeypatch.setenv("ROCM_HOME", str(folder))
        monkeypatch.setenv("PYTHONPATH", path())
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return become
