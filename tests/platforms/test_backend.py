"""What each backend says can be known here, with the host that it looks at put in its place where it must be."""

from __future__ import annotations

import importlib.metadata
import logging
import stat
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from kernelarena.platforms import backend as backend_module
from kernelarena.platforms import discovery, gpu
from kernelarena.platforms.backend import GROUP, Availability, Backend, Device, availability, backend_for
from kernelarena.platforms.catalogue import load
from kernelarena.platforms.cpu import CpuBackend
from kernelarena.platforms.cuda import CudaBackend
from kernelarena.platforms.declared import XpuBackend
from kernelarena.platforms.gpu import GpuBackend
from kernelarena.platforms.rocm import RocmBackend
from kernelarena.spec import Evidence, Language, Platform

PLATFORMS = load()
H200 = Device(0, "NVIDIA H200", "sm_90", "ec77ee18", "0000:00:06")
PRINTED = {  # names as the vendors' runtimes report them
    "mi250": ("AMD Instinct MI250X / MI250", "gfx90a:sramecc+:xnack-"),
    "mi300": ("AMD Instinct MI300X", "gfx942:sramecc+:xnack-"),
    "mi355": ("AMD Instinct MI355X", "gfx950:sramecc+:xnack-"),
    "rx7900": ("AMD Radeon RX 7900 XTX", "gfx1100"),
    "a100": ("NVIDIA A100-SXM4-80GB", "sm_80"),
    "h100": ("NVIDIA H100 80GB HBM3", "sm_90"),
    "h200": ("NVIDIA H200", "sm_90"),
    "b200": ("NVIDIA B200", "sm_100"),
    "rtx4090": ("NVIDIA GeForce RTX 4090", "sm_89"),
}
SIBLINGS = [  # near in name, another chip
    ("AMD Instinct MI250X", "gfx90a"),
    ("AMD Instinct MI300A", "gfx942"),
    ("AMD Instinct MI325X", "gfx942"),
    ("AMD Radeon RX 7900 XT", "gfx1100"),
    ("NVIDIA A100-SXM4-40GB", "sm_80"),
    ("NVIDIA A100 80GB PCIe", "sm_80"),
    ("NVIDIA H100 PCIe", "sm_90"),
    ("NVIDIA H100 NVL", "sm_90"),
    ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "sm_90"),
    ("NVIDIA H200 NVL", "sm_90"),
    ("NVIDIA GB200", "sm_100"),
    ("NVIDIA GeForce RTX 4090 D", "sm_89"),
    ("NVIDIA GeForce RTX 4090 Laptop GPU", "sm_89"),
]


def matches(name: str, arch: str) -> list[str]:
    device = Device(0, name, arch)
    return [
        platform.id
        for platform in PLATFORMS.values()
        if (backend := backend_for(platform)) is not None and backend.match(device, platform)
    ]


@pytest.fixture
def python_that_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Stand in for the interpreter that asks torch, so that any host's answer can be given on this one."""
    node = tmp_path / "node"
    node.touch()
    for kind in (CudaBackend, RocmBackend):
        monkeypatch.setattr(kind, "device_node", node)

    def install(script: str) -> None:
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(sys, "executable", str(path))

    return install


def answer(*devices: str, hip: str = "null", cuda: str = "null") -> str:
    body = f'{{"torch": "2.9.0", "hip": {hip}, "cuda": {cuda}, "xpu": null, "devices": [{", ".join(devices)}]}}'
    return f"echo 'a line that some library prints'; echo '{body}'"


@pytest.mark.parametrize("id_", PRINTED)
def test_a_device_is_recognised_by_what_its_runtime_prints(id_: str) -> None:
    assert matches(*PRINTED[id_]) == [id_]


@pytest.mark.parametrize(("name", "arch"), SIBLINGS, ids=[name for name, _ in SIBLINGS])
def test_a_sibling_is_not_taken_for_the_chip(name: str, arch: str) -> None:
    assert matches(name, arch) == []


def test_a_platform_that_says_nothing_of_detection_matches_nothing() -> None:
    platform = PLATFORMS["h200"].model_copy(update={"detect": type(PLATFORMS["h200"].detect)()})
    assert not CudaBackend().match(H200, platform)


@pytest.mark.parametrize(
    ("id_", "target"),
    [
        ("mi250", ("hip", "gfx90a", 64)),
        ("mi300", ("hip", "gfx942", 64)),
        ("mi355", ("hip", "gfx950", 64)),
        ("rx7900", ("hip", "gfx1100", 32)),
        ("a100", ("cuda", 80, 32)),
        ("rtx4090", ("cuda", 89, 32)),
        ("h100", ("cuda", 90, 32)),
        ("b200", ("cuda", 100, 32)),
        ("cpu", None),
    ],
)
def test_targets_are_those_that_triton_takes(id_: str, target: object) -> None:
    backend = backend_for(PLATFORMS[id_])
    assert backend is not None
    assert backend.triton_target(PLATFORMS[id_]) == target


def test_a_target_is_known_without_limits_too() -> None:
    bare = {"limits": None}
    assert RocmBackend().triton_target(PLATFORMS["mi300"].model_copy(update=bare)) == ("hip", "gfx942", 64)
    assert RocmBackend().triton_target(PLATFORMS["rx7900"].model_copy(update=bare)) == ("hip", "gfx1100", 32)
    assert CudaBackend().triton_target(PLATFORMS["h100"].model_copy(update=bare)) == ("cuda", 90, 32)


@pytest.mark.parametrize(("backend", "arch"), [(CudaBackend(), "gfx942"), (RocmBackend(), "sm_90")])
def test_an_arch_of_another_backend_is_no_target(backend: GpuBackend, arch: str) -> None:
    platform = PLATFORMS["mi300"].model_copy(update={"arch": arch, "backend": backend.name})
    assert backend.triton_target(platform) is None
    assert backend.availability(platform).evidence == ()
    assert f"'{arch}'" in backend.availability(platform).why_not


def test_the_installed_triton_has_the_compilers_that_availability_reports() -> None:
    """The entry points are read without importing Triton; here it is imported, to see that they tell the truth."""
    pytest.importorskip("triton")
    script = "import triton.backends; print(sorted(triton.backends.backends))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == str(sorted(gpu.triton_backends()))
    assert gpu.triton_version() == importlib.metadata.version("triton")


def test_compiled_evidence_needs_triton_its_backend_and_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    mi300, backend = PLATFORMS["mi300"], RocmBackend()
    monkeypatch.setattr(gpu, "triton_version", lambda: "3.9.0+rocm7")
    monkeypatch.setattr(gpu, "triton_backends", lambda: {"amd"})
    assert backend.availability(mi300).evidence == (Evidence.EMULATED, Evidence.COMPILED)
    bare = backend.availability(mi300.model_copy(update={"limits": None}))
    assert bare == Availability((), "mi300.yaml has no 'limits' to hold a compiled kernel against")
    assert "no backend 'nvidia'" in CudaBackend().availability(PLATFORMS["h100"]).why_not
    monkeypatch.setattr(gpu, "triton_version", lambda: "3.5.1")
    assert backend.availability(mi300) == Availability((), "Triton 3.5.1 is too old: 3.6 or newer is needed")
    monkeypatch.setattr(gpu, "triton_version", lambda: None)
    assert "pip install 'kernelarena[triton]'" in backend.availability(mi300).why_not


@pytest.mark.parametrize(
    ("sought", "measured", "absent", "interpreter"),
    [
        (None, "measured emulated compiled", "emulated compiled", "emulated"),
        (Evidence.MEASURED, "measured emulated compiled", "emulated compiled", "emulated"),
        (Evidence.EMULATED, "emulated compiled", "emulated compiled", "emulated"),
        (Evidence.COMPILED, "compiled", "compiled", ""),
    ],
)
def test_no_stronger_evidence_is_had_than_is_sought(sought, measured, absent, interpreter) -> None:
    everything = tuple(Evidence)
    for found, left in (((everything), measured), (everything[1:], absent), ((Evidence.EMULATED,), interpreter)):
        assert " ".join(Availability(found, "why").sought(sought).evidence) == left


def test_why_not_more_is_that_no_more_is_sought() -> None:
    def why_not(evidence: Iterable[Evidence], sought: Evidence | None) -> str:
        return Availability(tuple(evidence), "why").sought(sought).why_not

    assert why_not([Evidence.EMULATED], Evidence.COMPILED) == "there is no compiled evidence of it"
    assert why_not(Evidence, Evidence.EMULATED) == "no stronger evidence is sought"
    assert why_not(Evidence, None) == "why"


def test_the_interpreter_gives_emulated_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = PLATFORMS["cpu"]
    monkeypatch.setattr("kernelarena.platforms.cpu.triton_version", lambda: "3.9.0")
    assert CpuBackend().availability(cpu).evidence == (Evidence.EMULATED,)
    assert CpuBackend().devices() == []
    monkeypatch.setattr("kernelarena.platforms.cpu.triton_version", lambda: None)
    assert CpuBackend().availability(cpu).evidence == ()


def test_a_host_without_the_driver_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RocmBackend, "device_node", tmp_path / "kfd")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))  # would raise if it were started
    backend = RocmBackend()
    assert backend.devices() == []
    assert backend.availability(PLATFORMS["mi300"]).why_not == f"no AMD GPU in this host (no {tmp_path}/kfd)"


def test_on_a_chip_that_is_here_kernels_are_measured(python_that_says) -> None:
    python_that_says(
        answer('{"index": 0, "name": "NVIDIA H200", "arch": "sm_90", "uuid": "u", "pci": "p"}', cuda='"13.0"')
    )
    backend = CudaBackend()
    assert backend.devices() == [Device(0, "NVIDIA H200", "sm_90", "u", "p")]
    assert backend.availability(PLATFORMS["h200"]) == Availability((Evidence.MEASURED, Evidence.COMPILED))
    assert backend.present(PLATFORMS["h200"]) == backend.devices()
    assert backend.present(PLATFORMS["b200"]) == []
    assert backend.availability(PLATFORMS["b200"]).why_not == "no NVIDIA B200 SXM in this host (it has NVIDIA H200)"


def test_a_chip_without_known_limits_is_measured_all_the_same(python_that_says) -> None:
    python_that_says(answer('{"index": 0, "name": "NVIDIA H200", "arch": "sm_90"}', cuda='"13.0"'))
    bare = PLATFORMS["h200"].model_copy(update={"limits": None})
    assert CudaBackend().availability(bare) == Availability((Evidence.MEASURED,))


def test_a_process_gets_the_nodes_of_one_device_and_sees_no_other(tmp_path: Path, monkeypatch) -> None:
    """Which node is a device's own is the driver's to say; a device goes by what stays its name in any process."""
    told = tmp_path / "gpus" / "0000:00:06.0"
    told.mkdir(parents=True)
    (told / "information").write_text("Model: \t\t NVIDIA H200\nDevice Minor: \t 3\n")
    monkeypatch.setattr(CudaBackend, "driver_folder", tmp_path / "gpus")
    found = CudaBackend().access(H200)
    assert found.paths == ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia3")
    assert found.environment == {"CUDA_VISIBLE_DEVICES": "GPU-ec77ee18"}


def test_where_the_driver_does_not_say_every_node_is_shown(tmp_path: Path, monkeypatch) -> None:
    for name in ("nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    monkeypatch.setattr(CudaBackend, "device_node", tmp_path / "nvidiactl")
    found = CudaBackend().access(Device(1, "NVIDIA H200", "sm_90"))
    assert found.paths[2:] == (f"{tmp_path}/nvidia0", f"{tmp_path}/nvidia11")
    assert found.environment == {"CUDA_VISIBLE_DEVICES": "1"}


def test_a_render_node_is_found_by_its_bus_address(tmp_path: Path, monkeypatch) -> None:
    for number, address in ((128, "0000:c1:00"), (129, "0000:c2:00")):
        (tmp_path / "bus" / f"{address}.0").mkdir(parents=True)
        (tmp_path / "drm" / f"renderD{number}").mkdir(parents=True)
        (tmp_path / "drm" / f"renderD{number}" / "device").symlink_to(tmp_path / "bus" / f"{address}.0")
    monkeypatch.setattr(RocmBackend, "render_folder", tmp_path / "drm")
    device = Device(0, "AMD Instinct MI300X", "gfx942", "0123456789abcdef", "0000:c2:00")
    found = RocmBackend().access(device)
    assert found.paths == ("/dev/kfd", "/dev/dri/renderD129")
    assert found.environment == {"ROCR_VISIBLE_DEVICES": "GPU-0123456789abcdef"}
    nameless = RocmBackend().access(Device(5, "AMD Instinct MI300X", "gfx942", "not-of-that-form"))
    assert nameless.paths == ("/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129")
    assert nameless.environment == {"ROCR_VISIBLE_DEVICES": "5"}


def test_a_serial_number_is_known_in_the_spelling_of_torch() -> None:
    """HIP puts its digits as text into the sixteen bytes of a UUID, which torch prints in hexadecimal."""
    spelt = str(uuid.UUID(bytes=b"0123456789abcdef"))
    device = Device(0, "AMD Instinct MI300X", "gfx942", spelt)
    assert RocmBackend().identifier(device) == "GPU-0123456789abcdef"


def test_parts_of_one_chip_go_by_their_number(python_that_says) -> None:
    part = '"name": "AMD Instinct MI300X", "arch": "gfx942", "uuid": "0123456789abcdef"'
    python_that_says(answer(*(f'{{"index": {index}, {part}}}' for index in range(2)), hip='"7.0"'))
    backend = RocmBackend()
    shown = [backend.access(device).environment["ROCR_VISIBLE_DEVICES"] for device in backend.devices()]
    assert shown == ["0", "1"]


@pytest.mark.parametrize("set_by_the_user", ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"])
def test_whatever_the_user_has_set_one_variable_shows_the_device(monkeypatch, set_by_the_user: str) -> None:
    """Both together can hide every device: the second counts within what the first leaves."""
    monkeypatch.setenv(set_by_the_user, "4,6")
    access = RocmBackend().access(Device(1, "AMD Instinct MI300X", "gfx942"))
    before = {"HOME": "/root", set_by_the_user: "4,6"}
    assert access.within(before) == {"HOME": "/root", "ROCR_VISIBLE_DEVICES": "6"}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (answer(cuda='"13.0"'), "torch 2.9.0 is not a build for AMD GPUs"),
        (answer(hip='"7.0"'), "torch 2.9.0 sees no AMD device here"),
        ("echo 'RuntimeError: no driver' >&2; exit 1", "asking torch for devices failed: RuntimeError: no driver"),
        ("kill -SEGV $$", "asking torch for devices failed: it was ended by SIGSEGV"),
        ("exec sleep 60", "asking torch for devices failed: no answer within 0.2 s"),
    ],
)
def test_why_there_are_no_devices_is_told_apart(
    python_that_says, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    if "sleep" in script:
        monkeypatch.setattr(discovery, "SECONDS", 0.2)
    python_that_says(script)
    backend = RocmBackend()
    assert backend.devices() == []
    found = backend.availability(PLATFORMS["mi300"])
    assert message in found.why_not
    assert found.evidence == (Evidence.EMULATED, Evidence.COMPILED)


@pytest.mark.parametrize(("nodes", "message"), [(0, "no {}"), (1, "none of {} is of that vendor")])
def test_nodes_of_another_vendor_are_no_driver(tmp_path: Path, monkeypatch, nodes: int, message: str) -> None:
    for number in range(128, 128 + nodes):
        (tmp_path / f"renderD{number}" / "device").mkdir(parents=True)
        (tmp_path / f"renderD{number}" / "device" / "vendor").write_text("0x1002\n")
    monkeypatch.setattr(XpuBackend, "device_node", tmp_path / "renderD*")
    monkeypatch.setattr(XpuBackend, "render_folder", tmp_path)
    found = XpuBackend().availability(PLATFORMS["b580"])
    assert found.why_not == f"no Intel GPU in this host ({message.format(tmp_path / 'renderD*')})"


def test_hidden_devices_are_explained(python_that_says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "")
    python_that_says(answer(hip='"7.0"'))
    assert "HIP_VISIBLE_DEVICES='' may hide it" in RocmBackend().availability(PLATFORMS["mi300"]).why_not


def test_the_probe_runs_under_the_torch_of_this_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real script, in the real interpreter: what it prints has the form that is read."""
    pytest.importorskip("torch")
    (tmp_path / "torch.py").write_text("raise RuntimeError('a file of the user that happens to be called so')")
    monkeypatch.chdir(tmp_path)
    found = discovery.ask_torch("cuda", prefix="sm_")
    assert set(found) == {"torch", "hip", "cuda", "xpu", "devices"}
    for device in found["devices"]:
        assert Device(**device).name


FORK = """
import os
from kernelarena.platforms.cuda import CudaBackend
from kernelarena.platforms.rocm import RocmBackend

backends = [kind() for kind in (CudaBackend, RocmBackend) if kind().has_driver()]
if not any(backend.devices() for backend in backends):
    raise SystemExit("no device that torch can use")
child = os.fork()
if child == 0:
    import torch

    os._exit(0 if torch.ones(2, device="cuda").sum().item() == 2 else 1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.gpu
def test_devices_of_this_host_are_found_and_forking_stays_possible() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=False)
    if "no device that torch can use" in done.stderr:
        pytest.skip("no device that torch can use")
    assert done.returncode == 0, done.stderr


ELSEWHERE = PLATFORMS["ascend910b"].model_copy(update={"id": "acme1", "backend": "acme"})


def test_without_a_backend_nothing_can_be_known_and_the_reason_names_it() -> None:
    assert backend_for(ELSEWHERE) is None
    found = availability(ELSEWHERE)
    assert found.evidence == ()
    assert "'acme'" in found.why_not
    assert GROUP in found.why_not


class PluginBackend(Backend):
    """A backend as another distribution would bring it."""

    name = "acme"
    languages = (Language.TORCH,)

    def devices(self) -> list[Device]:
        return [Device(0, "Ascend910B3", "ascend910b")]

    def availability(self, platform: Platform) -> Availability:
        return Availability((Evidence.MEASURED,), "")


NOT_A_BACKEND = object


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Install a distribution that brings a backend: real metadata on the real import path."""

    def install(entry: str) -> None:
        info = tmp_path / "plugin-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entry}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        backend_module._backend.cache_clear()

    yield install
    backend_module._backend.cache_clear()


def test_a_plug_in_is_found_by_its_entry_point(installed) -> None:
    installed(f"acme = {__name__}:PluginBackend")
    backend = backend_for(ELSEWHERE)
    assert backend is not None
    assert backend.match(backend.devices()[0], ELSEWHERE)
    assert availability(ELSEWHERE) == Availability((Evidence.MEASURED,), "")


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("acme = no_such_module:Backend", "ModuleNotFoundError: No module named 'no_such_module'"),
        (f"acme = {__name__}:NoSuchName", "AttributeError"),
        (f"acme = {__name__}:NOT_A_BACKEND", "is not a kernelarena.platforms.backend.Backend"),
    ],
)
def test_a_broken_plug_in_is_one_warning(installed, caplog: pytest.LogCaptureFixture, entry: str, reason: str) -> None:
    installed(entry)
    with caplog.at_level(logging.WARNING):
        assert backend_for(ELSEWHERE) is None
        assert backend_for(ELSEWHERE) is None
    (record,) = caplog.records
    assert reason in record.getMessage()
    assert "\n" not in record.getMessage()
    assert availability(ELSEWHERE).evidence == ()


def test_a_plug_in_cannot_take_the_place_of_a_built_in_backend(installed) -> None:
    installed(f"cpu = {__name__}:PluginBackend")
    assert isinstance(backend_for(PLATFORMS["cpu"]), CpuBackend)


def test_a_backend_goes_by_the_name_that_platform_files_use() -> None:
    for name in backend_module._BUILT_IN:
        backend = backend_module._backend(name)
        assert backend is not None
        assert backend.name == name
        cpp = {"cuda": {Language.CUDA, Language.HIP}, "rocm": {Language.CUDA, Language.HIP}}.get(name, set())
        assert set(backend.languages) == {Language.TRITON, Language.TORCH} | cpp


def test_looking_at_platforms_imports_no_heavy_library() -> None:
    script = (
        "import sys; from kernelarena.platforms.catalogue import load;"
        "from kernelarena.platforms.backend import availability;"
        "[availability(platform) for platform in load().values()];"
        "print(sorted({'torch', 'triton', 'ray', 'pandas', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
