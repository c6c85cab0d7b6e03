"""Hosts as the tests need them: a driver's traces in a folder, torch and the management library from stand-ins."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import kernelarena

HERE = Path(__file__).resolve().parent
REPOSITORY = Path(kernelarena.__file__).resolve().parent.parent
GIB = 1 << 30
MI300X = {
    "name": "AMD Instinct MI300X", "gcnArchName": "gfx942:sramecc+:xnack-", "major": 9, "minor": 4,
    "total_memory": 206141652992, "multi_processor_count": 304, "warp_size": 64, "max_threads_per_block": 1024,
    "shared_memory_per_block": 65536, "L2_cache_size": 4194304, "clock_rate": 2100000,
    "pci_domain_id": 1, "pci_device_id": 0,
}  # fmt: skip
SPX = [
    {**MI300X, "pci_bus_id": 0xE5, "serial": "c28afe5b6c1a0e00"},
    {**MI300X, "pci_bus_id": 0x85, "serial": "c28afe5b6c1a0e01"},
]
CPX = [
    {**MI300X, "pci_bus_id": 0x85, "serial": f"c28afe5b6c1a0e{part:02x}", "multi_processor_count": 38,
     "total_memory": 24 * GIB}
    for part in range(8)
]  # fmt: skip
VF = [{**MI300X, "name": "AMD Instinct MI300X VF", "pci_bus_id": 0xE5, "serial": "c28afe5b6c1a0e00"}]
MI308X = [{**MI300X, "name": "AMD Instinct MI308X", "multi_processor_count": 80, "pci_bus_id": 0xE5,
           "serial": "c28afe5b6c1a0e00"}]  # fmt: skip
A6000 = [
    {
        "name": "NVIDIA RTX A6000", "major": 8, "minor": 6, "total_memory": 51041271808, "multi_processor_count": 84,
        "warp_size": 32, "shared_memory_per_block": 49152, "shared_memory_per_block_optin": 101376,
        "L2_cache_size": 6291456, "clock_rate": 1800000, "pci_domain_id": 0, "pci_bus_id": 0x4D, "pci_device_id": 0,
        "uuid": "00000000-1111-2222-3333-444444444444",
    }
]  # fmt: skip
H200 = [
    {**A6000[0], "name": "NVIDIA H200", "major": 9, "minor": 0, "total_memory": 150109880320,
     "multi_processor_count": 132, "pci_bus_id": 0x1B, "uuid": "aaaaaaaa-1111-2222-3333-bbbbbbbbbbbb"}
]  # fmt: skip

_BUILDS = {
    "rocm": '__version__ = "2.9.0+rocm7.0"\nhip = "7.0.51831"\ncuda = None\nxpu = None\n',
    "cuda": '__version__ = "2.9.0"\nhip: str | None = None\ncuda: str | None = "13.0"\nxpu = None\n',
}
"""``torch/version.py``, of which torch has written either form."""
_MAIN = """
import sys
from dataclasses import replace
from pathlib import Path

from kernelarena.platforms.backend import backend_named
from kernelarena.platforms.doctor import vendors

folder, name, *arguments = sys.argv[1:]
backend = type(backend_named(name))
backend.device_node = Path(folder, "node")
backend.render_folder = backend.driver_folder = Path(folder, "nothing")
vendor = vendors.VENDORS[name]
release = (Path(folder, "release/.info/version"),) if vendor.release else ()
nodes = (str(backend.device_node),)
vendors.VENDORS[name] = replace(vendor, nodes=nodes, versions=(Path(folder, "version"),), release=release)
from kernelarena.cli import main

main(arguments)
"""


@dataclass
class Host:
    """A host that has chips of one backend."""

    backend: str
    folder: Path
    devices: list[dict]

    def kab_mc(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command line there, in a process of its own."""
        process = self.start(*arguments, **variables)
        said, complained = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, said, complained)

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start the command line there."""
        path = os.pathsep.join([str(self.folder), str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
        known = {name: value for name, value in os.environ.items() if not name.endswith("VISIBLE_DEVICES")}
        environment = {**known, "PYTHONPATH": path, "FAKE_DEVICES": json.dumps(self.devices), "COLUMNS": "80"}
        command = [sys.executable, "-c", _MAIN, str(self.folder), self.backend, *arguments]
        return subprocess.Popen(
            command, env={**environment, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=self.folder,
        )  # fmt: skip

    def doctor(self, *arguments: str, code: int = 0, **variables: str) -> dict:
        """Return what the doctor says there."""
        done = self.kab_mc("platforms", "doctor", *arguments, "--json", **variables)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def made(tmp_path):
    """Make a host with chips of a backend, of which only the management library is left to the test."""

    def make(backend: str, devices: list[dict]) -> Host:
        shutil.copytree(HERE / "fake", tmp_path, dirs_exist_ok=True)
        (tmp_path / "torch/version.py").write_text(_BUILDS[backend])
        (tmp_path / "node").touch()
        (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27\n")
        (tmp_path / "release/.info").mkdir(parents=True)
        (tmp_path / "release/.info/version").write_text("7.0.2-56\n")
        return Host(backend, tmp_path, devices)

    return make


def found(report: dict, check: str) -> dict:
    """Return the one finding of a check."""
    (finding,) = [finding for finding in report["findings"] if finding["check"] == check]
    return finding
