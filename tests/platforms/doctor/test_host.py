"""What is found of a host whatever its chips: distributions on a real import path, programs on a real PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernelarena.platforms.doctor import Finding, State
from kernelarena.platforms.doctor import host as checks
from kernelarena.platforms.doctor import runtime as runtime_checks
from kernelarena.platforms.doctor.installed import program_version, required_by, torch_build, version_of
from kernelarena.platforms.doctor.runtime import Runtime
from kernelarena.platforms.toolchains.triton import DISTRIBUTIONS


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install distributions before whatever else there is: real metadata, and the modules that they bring."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def install(name: str, version: str, *requirements: str, module: str = "", text: str = "") -> None:
        info = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        asks = "".join(f"Requires-Dist: {requirement}\n" for requirement in requirements)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{asks}")
        if module:
            (tmp_path / module).mkdir()
            (tmp_path / module / "__init__.py").write_text(text)

    return install


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put programs on an otherwise empty PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, says: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{says}\n")
        (folder / name).chmod(0o755)

    return put


def one(check, *arguments) -> Finding:
    (finding,) = check(*arguments)
    return finding


def test_the_torch_of_this_host_is_told_without_importing_it() -> None:
    torch = pytest.importorskip("torch")
    build = torch_build()
    assert build is not None
    assert build.version == torch.__version__
    assert build.runtimes.get("hip") == torch.version.hip
    assert build.runtimes.get("cuda") == torch.version.cuda


@pytest.mark.parametrize(
    ("build", "asked", "brought", "state"),
    [
        ("2.9.0+rocm7.0", "pytorch-triton-rocm==3.9.0", ("pytorch-triton-rocm", "3.9.0"), State.WARNING),  # and PyPI's
        ("2.9.0", "triton==3.9.0; platform_system == 'Linux'", ("triton", "3.9.0"), State.OK),
        ("2.9.0", "triton==3.9.0", ("triton", "3.9.0+git12"), State.OK),
        ("2.9.0+rocm7.1", "triton==3.9.0+rocm7.1.0.git12", ("triton", "3.9.0"), State.WARNING),
        ("2.9.0", "triton==3.8.0", ("triton", "3.9.0"), State.WARNING),
        ("2.9.0", "triton (==3.9.0)", ("triton", "3.9.0"), State.OK),
        ("2.9.0", "triton>=3.0", ("triton", "3.9.0"), State.OK),
        ("2.9.0", "triton>=3.0", ("triton", "3.5.1"), State.MISSING),
    ],
)
def test_one_triton_over_another_is_noticed(installed, build, asked, brought, state) -> None:
    if version_of("triton") is None:
        installed("triton", "3.9.0")
    installed("torch", build, asked)
    installed(*brought)
    finding = one(checks.triton)
    assert finding.state is state, finding
    assert bool(finding.remedy) == (state is not State.OK)


def test_what_asks_for_nothing_exactly_asks_for_nothing(installed) -> None:
    installed("torch", "2.9.0", "numpy==1.0", "triton>=3")
    assert required_by("torch", DISTRIBUTIONS) is None
    assert required_by("no-such-distribution", DISTRIBUTIONS) is None


def test_ray_that_does_not_start_beside_amdsmi_is_told_as_it_is(tmp_path: Path, installed, monkeypatch) -> None:
    installed("amdsmi", "7.0.2", module="amdsmi")
    installed("ray", "2.60.0", module="ray", text="raise KeyError('libamd_smi.so')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    finding = one(checks.ray)
    assert finding.state is State.MISSING
    assert finding.found == "2.60.0 does not start beside amdsmi: KeyError: 'libamd_smi.so'"
    assert "pip uninstall amdsmi" in finding.remedy


def test_a_host_without_a_compiler_cannot_launch(programs, monkeypatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    assert one(checks.compiler).state is State.MISSING
    programs("gcc", "")
    assert one(checks.compiler).found.endswith("/gcc")
    monkeypatch.setenv("CC", "icc")
    assert one(checks.compiler).found == "CC='icc' is no program"


def test_little_room_is_a_warning(monkeypatch) -> None:
    room = SimpleNamespace(f_bavail=16, f_blocks=64, f_frsize=1 << 20)
    monkeypatch.setattr(checks.os, "statvfs", lambda path: room)
    finding = one(checks.shared_memory)
    assert (finding.state, "--shm-size" in finding.remedy) == (State.WARNING, True)
    monkeypatch.setattr(checks.os, "sched_getaffinity", lambda pid: {0})
    assert one(checks.cores).state is State.WARNING


def test_a_version_is_what_a_program_says(programs) -> None:
    programs("nvcc", "echo 'Cuda compilation tools, release 13.0, V13.0.88'")
    programs("silent", "")
    programs("broken", "exit 3")
    assert program_version("nvcc") == f"{os.environ['PATH']}/nvcc 13.0"
    assert program_version("silent") == f"{os.environ['PATH']}/silent"
    assert program_version("nothing") is None


@pytest.mark.parametrize(("platform", "warned"), [("amd", False), ("", True), (None, True)])
def test_hipcc_that_would_take_nvcc_is_named(programs, monkeypatch, platform, warned) -> None:
    programs("hipcc", "echo 'HIP version: 5.2.21153'")
    programs("nvcc", "echo 'release 13.0'")
    if platform is None:
        monkeypatch.delenv("HIP_PLATFORM", raising=False)
    else:
        monkeypatch.setenv("HIP_PLATFORM", platform)
    findings = list(runtime_checks.compilers(Runtime.of("rocm")))
    assert findings[0].found.endswith("hipcc 5.2.21153")
    assert [finding.remedy for finding in findings[1:]] == ["export HIP_PLATFORM=amd"] * warned


@pytest.mark.parametrize(
    ("variables", "state", "said"),
    [
        ({}, State.OK, "nothing hides a device"),
        ({"HIP_VISIBLE_DEVICES": "0,1"}, State.OK, "HIP_VISIBLE_DEVICES='0,1'"),
        ({"HIP_VISIBLE_DEVICES": "-1"}, State.WARNING, "HIP_VISIBLE_DEVICES='-1' hides every device"),
        ({"ROCR_VISIBLE_DEVICES": ""}, State.WARNING, "ROCR_VISIBLE_DEVICES='' hides every device"),
        ({"ROCR_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "0"}, State.WARNING, "may hide every device"),
        ({"HIP_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "0"}, State.OK, "HIP_VISIBLE_DEVICES='1'"),  # one layer
        ({"HIP_VISIBLE_DEVICES": "0,none,1"}, State.WARNING, "'none' is neither a number nor the name of a device"),
    ],
)
def test_what_hides_devices_is_named(monkeypatch, variables, state, said) -> None:
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    finding = one(runtime_checks.visibility, Runtime.of("rocm"))
    assert finding.state is state
    assert said in finding.found
