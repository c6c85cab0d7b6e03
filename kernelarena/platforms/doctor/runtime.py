"""What all chips of one backend need of a host: driver, a fitting torch, compilers, a management library."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from kernelarena.platforms.backend import GROUP, Backend, backend_named
from kernelarena.platforms.doctor.finding import Finding, missing, ok, warning
from kernelarena.platforms.doctor.installed import (
    module_folder,
    program_version,
    torch_build,
    version_of,
)
from kernelarena.platforms.doctor.vendors import VENDORS, Vendor
from kernelarena.platforms.gpu import GpuBackend, triton_backends
from kernelarena.platforms.torch_backend import TorchBackend
from kernelarena.platforms.visibility import unreadable
from kernelarena.spec import Language


@dataclass(frozen=True)
class Runtime:
    """What the checks look at.

    Attributes
    ----------
    name
        Of the backend, as platform files call it.
    backend
        None where none of that name is installed.
    vendor
        None where nothing is known beyond what every backend answers.
    """

    name: str
    backend: Backend | None
    vendor: Vendor | None

    @classmethod
    def of(cls, name: str) -> Runtime:
        """Return the runtime of a backend's name."""
        return cls(name, backend_named(name), VENDORS.get(name))

    @property
    def driven(self) -> bool:
        """Whether a kernel driver for its chips is loaded, or, where that cannot be told, whether devices are found."""
        if isinstance(self.backend, TorchBackend):
            return self.backend.has_driver()
        return self.backend is not None and bool(self.backend.devices())


def backend(runtime: Runtime) -> Iterator[Finding]:
    """Say where the backend itself is not to be had."""
    if runtime.backend is None:
        yield missing(
            "backend",
            f"none of the name '{runtime.name}' is installed, or it does not load",
            f"install the package that brings it (entry point group {GROUP})",
        )


def driver(runtime: Runtime) -> Iterator[Finding]:
    """Look for the kernel driver, and whether its device nodes may be opened."""
    backend, vendor = runtime.backend, runtime.vendor
    if not isinstance(backend, TorchBackend):
        return
    if not runtime.driven:
        install = vendor.install if vendor else f"install the driver of {backend.vendor_name}; in a container, show it"
        yield missing("driver", backend.absence(), install)
        return
    patterns = vendor.nodes if vendor else (str(backend.device_node), *backend.more_nodes)
    nodes = {pattern: sorted(glob(pattern)) for pattern in patterns}
    absent = [pattern for pattern, found in nodes.items() if not found]
    closed = [node for found in nodes.values() for node in found if not os.access(node, os.R_OK | os.W_OK)]
    if vendor and absent:
        yield missing("driver", f"{vendor.driver} is loaded, and {', '.join(absent)} is not there", vendor.install)
    elif closed:
        yield missing("driver", f"{', '.join(closed)} may not be opened", vendor.allow if vendor else "")
    elif vendor:
        yield ok("driver", f"{vendor.driver} {_version(vendor.versions) or f'of Linux {platform.release()}'}")
    else:
        yield ok("driver", ", ".join(node for found in nodes.values() for node in found))
    if vendor and (release := _version(vendor.release)) is not None:
        yield ok("release", f"{release} ({vendor.release[0].parent.parent})")


def torch(runtime: Runtime) -> Iterator[Finding]:
    """Look whether the installed torch was built for these chips."""
    build, backend = torch_build(), runtime.backend
    if not isinstance(backend, TorchBackend):
        return
    chips = f"{backend.vendor_name} {backend.noun}s"
    if build is None:
        yield missing("torch", "not installed", f"install the build for {chips}")
    elif backend.torch_key and backend.torch_key not in build.runtimes:
        others = ", ".join(sorted(build.runtimes)) or "the processor alone"
        remedy = f"install the build for {chips} (pytorch.org) in an environment of its own"
        yield missing("torch", f"{build.version} is built for {others}", remedy)
    elif backend.plug_in and module_folder(backend.plug_in) is None:
        yield missing("torch", f"{build.version} without {backend.plug_in}", f"install the vendor's {backend.plug_in}")
    else:
        key = backend.torch_key
        yield ok("torch", f"{build.version}, built for {key} {build.runtimes[key]}" if key else build.version)


def triton(runtime: Runtime) -> Iterator[Finding]:
    """Look whether the installed Triton compiles for these chips."""
    if not isinstance(runtime.backend, GpuBackend):
        return
    wanted = runtime.backend.triton_backend
    if wanted in triton_backends():
        yield ok("triton", f"has its compiler '{wanted}'")
    else:
        yield missing("triton", f"no compiler '{wanted}' is installed", "install the Triton that comes with this torch")


def compilers(runtime: Runtime) -> Iterator[Finding]:
    """Look for compilers of the vendor's own language; only kernels in it need one."""
    if runtime.vendor is None or runtime.backend is None:
        return
    for language, programs in runtime.vendor.compilers.items():
        found = [version for program in programs if (version := program_version(program)) is not None]
        if found:
            yield ok("compiler", "; ".join(found))
        elif language in runtime.backend.languages:
            yield missing(
                "compiler",
                f"no {' or '.join(programs)}",
                f"install one and put it on PATH: kernels in {language} need it",
            )
        else:
            yield ok("compiler", f"no {' or '.join(programs)}, and nothing here needs one")
    taken = Language.HIP in runtime.vendor.compilers and shutil.which("hipcc") and shutil.which("nvcc")
    if taken and os.environ.get("HIP_PLATFORM") != "amd":
        yield warning("compiler", "hipcc takes nvcc, which is on PATH, for its compiler", "export HIP_PLATFORM=amd")


def management(runtime: Runtime) -> Iterator[Finding]:
    """Look for the package that power, clocks and temperatures come from."""
    if runtime.vendor is None or runtime.vendor.management is None:
        return
    module, distribution = runtime.vendor.management
    if module_folder(module) is None:
        remedy = f"pip install 'kernelarena[{runtime.name}]' where the driver is: without it, telemetry is null"
        yield missing("management", f"{distribution} is not installed", remedy)
        return
    said = f"{distribution} {version_of(distribution) or 'of unknown version'}"
    if runtime.vendor.harm and not runtime.driven:
        yield warning("management", f"{said}, without the driver that it needs", runtime.vendor.harm)
    else:
        yield ok("management", said)


def visibility(runtime: Runtime) -> Iterator[Finding]:
    """Look at the variables that hide devices: within one layer the first counts, the next counts what that leaves."""
    if not isinstance(runtime.backend, TorchBackend):
        return
    layers = [[name for name in layer if name in os.environ] for layer in runtime.backend.visibility.layers]
    known = [names[0] for names in layers if names]
    said = ", ".join(f"{name}='{os.environ[name]}'" for name in known)
    if len(known) > 1:
        yield warning(
            "visibility",
            f"{said}: the second counts within what the first leaves, and together they may hide every device",
            f"keep one of them: unset {' '.join(known[1:])}",
        )
    elif known and os.environ[known[0]].strip() in ("", "-1"):
        yield warning("visibility", f"{said} hides every device", f"unset {known[0]}")
    elif known and (odd := unreadable(os.environ[known[0]])) is not None:
        yield warning(
            "visibility",
            f"{said}: '{odd}' is neither a number nor the name of a device, and hides what comes after it too",
            f"unset {known[0]}, or give numbers or names with commas between them",
        )
    else:
        yield ok("visibility", said or "nothing hides a device")


def disguise(runtime: Runtime) -> Iterator[Finding]:
    """Look at variables that have a runtime tell another chip than there is."""
    for name in runtime.vendor.disguises if runtime.vendor else ():
        if name in os.environ:
            yield warning(
                "disguise",
                f"{name}='{os.environ[name]}' makes a chip pass for another",
                f"unset {name}: what is measured would be filed under the wrong chip",
            )


CHECKS: tuple[Callable[[Runtime], Iterator[Finding]], ...] = (
    backend, driver, torch, triton, compilers, management, visibility, disguise,
)  # fmt: skip
"""In the order in which their findings are shown."""


def _version(files: tuple[Path, ...]) -> str | None:
    """Return the first version number that one of the files holds."""
    for file in files:
        try:
            found = re.search(r"\d+\.\d+[\w.\-]*", file.read_text("utf-8", "replace"))
        except OSError:
            continue
        if found is not None:
            return found[0]
    return None
