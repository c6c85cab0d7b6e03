"""Backends of chips that nobody has run this on: each is what its vendor's public documents say, as configuration.

Their evidence can only be ``measured``, and only on a host of their own. Memory is copied through the host's; there is
no telemetry, so that power and clocks are null. What a document says stands here without remark; what is a conclusion,
or could not be checked, says so. ``docs/backends.md`` lists both.
"""

from __future__ import annotations

from pathlib import Path

from kernelarena.platforms.backend import Device
from kernelarena.platforms.torch_backend import TorchBackend
from kernelarena.platforms.visibility import Visibility

_RENDER_NODES = "/dev/dri/renderD*"


class XpuBackend(TorchBackend):
    """Intel's discrete GPUs, ``torch.xpu``.

    Numbers are those of Level Zero, which shows each stack of a package as a device unless told otherwise
    (``ZE_FLAT_DEVICE_HIERARCHY``). Of ``ONEAPI_DEVICE_SELECTOR`` only the form without numbers is understood, which
    leaves the numbering alone.
    """

    name = "xpu"
    vendor_name = "Intel"
    device_node = Path(_RENDER_NODES)
    torch_kind = "xpu"
    torch_key = "xpu"
    visibility = Visibility((("ZE_AFFINITY_MASK",),))
    variables = ("ZE_FLAT_DEVICE_HIERARCHY", "ZE_ENABLE_PCI_ID_DEVICE_ORDER", "ONEAPI_DEVICE_SELECTOR")
    render_folder = Path("/sys/class/drm")
    _PCI_VENDOR = "0x8086"

    def has_driver(self) -> bool:
        """Return whether a render node is one of Intel's: every vendor's lie in the same folder."""
        return bool(self._names())

    def nodes(self, device: Device) -> tuple[str, ...]:
        """Return Intel's render nodes; which one is a device's own, torch does not tell."""
        return tuple(f"/dev/dri/{name}" for name in self._names())

    def _names(self) -> list[str]:
        found = []
        for folder in sorted(self.render_folder.glob("renderD*")):
            try:
                vendor = (folder / "device" / "vendor").read_text().strip()
            except OSError:
                continue
            if vendor == self._PCI_VENDOR:
                found.append(folder.name)
        return found


class NpuBackend(TorchBackend):
    """Huawei's Ascend, ``torch.npu`` of the plug-in ``torch_npu``.

    The number in ``/dev/davinci<number>`` is of the host, torch's is of what is shown: every node is shown, and the
    variable chooses.
    """

    name = "npu"
    vendor_name = "Ascend"
    noun = "NPU"
    device_node = Path("/dev/davinci_manager")
    more_nodes = ("/dev/davinci[0-9]*", "/dev/devmm_svm", "/dev/hisi_hdc", "/etc/ascend_install.info")
    torch_kind = "npu"
    plug_in = "torch_npu"
    visibility = Visibility((("ASCEND_RT_VISIBLE_DEVICES",),))
    variables = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH")


class MusaBackend(TorchBackend):
    """Moore Threads, ``torch.musa`` of the plug-in ``torch_musa``.

    That a device's capability is named ``mp_<major><minor>`` follows its compiler's targets. Nodes are called
    ``mtgpu.<n>`` in some documents and ``mtgpu<n>`` in others; the pattern takes both.
    """

    name = "musa"
    vendor_name = "Moore Threads"
    device_node = Path("/dev/mtgpu*")
    more_nodes = (_RENDER_NODES,)
    torch_kind = "musa"
    plug_in = "torch_musa"
    arch_prefix = "mp_"
    visibility = Visibility((("MUSA_VISIBLE_DEVICES",),))
    variables = ("MUSA_HOME",)


class CorexBackend(TorchBackend):
    """Iluvatar CoreX: the vendor's build of torch calls its devices ``cuda``.

    ``IX_VISIBLE_DEVICES`` is read by the vendor's container runtime, which makes nodes of it, and not by processes.
    """

    name = "corex"
    vendor_name = "Iluvatar"
    device_node = Path("/dev/iluvatar*")
    torch_kind = "cuda"
    visibility = Visibility((("CUDA_VISIBLE_DEVICES",),))
    variables = ("CUDA_DEVICE_ORDER", "COREX_HOME")


class MacaBackend(TorchBackend):
    """MetaX: the vendor's build of torch calls its devices ``cuda``.

    The runtime reads both variables; which one it prefers where both are set could not be checked.
    """

    name = "maca"
    vendor_name = "MetaX"
    device_node = Path("/dev/mxcd")
    more_nodes = (_RENDER_NODES,)
    torch_kind = "cuda"
    visibility = Visibility((("CUDA_VISIBLE_DEVICES", "MACA_VISIBLE_DEVICES"),))
    variables = ("MACA_PATH",)


class DtkBackend(TorchBackend):
    """Hygon's DCU: its toolkit derives from ROCm, and the vendor's build of torch is one for HIP (``cuda``).

    That ``HIP_VISIBLE_DEVICES`` also takes what ``CUDA_VISIBLE_DEVICES`` is set to was concluded from ROCm's.
    """

    name = "dtk"
    vendor_name = "Hygon"
    noun = "DCU"
    device_node = Path("/dev/mkfd")
    more_nodes = ("/dev/kfd", _RENDER_NODES)
    torch_kind = "cuda"
    torch_key = "hip"
    visibility = Visibility((("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),))
    variables = ("ROCM_PATH",)
