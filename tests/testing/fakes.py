"""The backends of the package over torch devices that are not there; only where they look for a driver is changed."""

import json
from pathlib import Path

from kernelarena.platforms.cuda import CudaBackend
from kernelarena.platforms.declared import (
    CorexBackend,
    DtkBackend,
    MacaBackend,
    MusaBackend,
    NpuBackend,
    XpuBackend,
)
from kernelarena.platforms.rocm import RocmBackend

FOLDER = Path(__file__).resolve().parent / "fake_torch"
NODE = Path("/dev/null")
GIB = 1 << 30


class Cuda(CudaBackend):
    device_node = NODE
    runtime = None


class Rocm(RocmBackend):
    device_node = NODE
    runtime = None


class Xpu(XpuBackend):
    def has_driver(self):
        return True


class Npu(NpuBackend):
    device_node = NODE


class Musa(MusaBackend):
    device_node = NODE


class Corex(CorexBackend):
    device_node = NODE


class Maca(MacaBackend):
    device_node = NODE


class Dtk(DtkBackend):
    device_node = NODE


def runtime(backend, name, *, arch="", capability=(9, 0), memory=8 * GIB, lacks=(), layers=None, identifiers=("", "")):
    """Return what ``FAKE_TORCH`` says of a host with two such devices."""
    devices = [
        {
            "name": name, "gcnArchName": arch, "major": capability[0], "minor": capability[1], "memory": memory,
            "identifier": identifier, "uuid": identifier.removeprefix("GPU-"), "clock_rate": 10**6,
            "pci_domain_id": 0, "pci_bus_id": 6 + index, "pci_device_id": 0,
        }
        for index, identifier in enumerate(identifiers)
    ]  # fmt: skip
    built_for = backend.torch_key or ("cuda" if backend.torch_kind == "cuda" else "")
    layers = layers or backend.visibility.layers
    return json.dumps(
        {"kind": backend.torch_kind, "built_for": built_for, "layers": layers, "lacks": lacks, "devices": devices}
    )


CHIPS = {
    "h200": (Cuda, {"name": "NVIDIA H200", "identifiers": ("GPU-ec77ee18", "GPU-ec77ee19")}),
    "mi300": (
        Rocm,
        {
            "name": "AMD Instinct MI300X", "arch": "gfx942:sramecc+:xnack-",
            "identifiers": ("GPU-0123456789abcdef", "GPU-0123456789abcdf0"),
        },
    ),
    "b580": (Xpu, {"name": "Intel(R) Arc B580 Graphics", "lacks": ["_sleep", "ExternalStream"]}),
    "ascend910b": (
        Npu,
        {"name": "Ascend910B3", "lacks": ["_sleep", "ExternalStream", "get_stream_from_external"]},
    ),
    "mtt-s4000": (
        Musa,
        {"name": "MTT S4000", "capability": (2, 2), "lacks": ["mem_get_info", "set_per_process_memory_fraction"]},
    ),
    "bi-v150": (Corex, {"name": "Iluvatar BI-V150"}),
    "metax-c500": (Maca, {"name": "MetaX C500"}),
    "hygon-dcu": (Dtk, {"name": "K100_AI", "arch": "gfx928:sramecc+:xnack-"}),
}  # fmt: skip
