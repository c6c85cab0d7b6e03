"""What a host needs whatever the chip: room, cores, a compiler, and libraries that do not get in each other's way."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from kernelarena.platforms.asking import Question
from kernelarena.platforms.doctor.finding import Finding, missing, ok, warning
from kernelarena.platforms.doctor.installed import module_folder, required_by, torch_build, version_of
from kernelarena.platforms.doctor.worker import WORKER
from kernelarena.platforms.gpu import OLDEST_TRITON, triton_backends, triton_release
from kernelarena.platforms.toolchains.triton import DISTRIBUTIONS as TRITON_DISTRIBUTIONS
from kernelarena.platforms.toolchains.triton import version as triton_version

_GIB = 1 << 30
_SHARED = 1 << 30
"""Bytes of ``/dev/shm``, below which Ray keeps its objects on a disk."""
_MEMORY = 8 << 30
"""Bytes. Two processes with torch and a device's runtime in them, and the float64 truths of large shapes."""
_CORES = 2
"""One that feeds the device and one that compiles what comes next."""
_RAY_SECONDS = 60.0
_COMPILERS = ("gcc", "clang")


def python() -> Iterator[Finding]:
    """Look at the interpreter."""
    yield ok("python", platform.python_version())


def torch() -> Iterator[Finding]:
    """Look at the installed torch; whether it fits a chip is a question for the chip's runtime."""
    build = torch_build()
    if build is None:
        yield missing("torch", "not installed", "install the build for the chips of this host, from pytorch.org")
        return
    built_for = ", ".join(f"{name} {version}" for name, version in sorted(build.runtimes.items()))
    yield ok("torch", f"{build.version}, built for {built_for or 'the processor alone'}")


def triton() -> Iterator[Finding]:
    """Look at the installed Triton, of which there may be one: its distributions own the same files."""
    version = triton_version()
    several = {name: found for name in TRITON_DISTRIBUTIONS if (found := version_of(name)) is not None}
    if version is None:
        yield missing("triton", "not installed", "pip install 'kernelarena[triton]'; torch for ROCm brings its own")
    elif len(several) > 1:
        yield warning(
            "triton",
            f"{' and '.join(map(' '.join, several.items()))} are installed over each other",
            f"uninstall {' and '.join(several)}, then install torch again: it brings the one that it needs",
        )
    elif (wanted := required_by("torch", TRITON_DISTRIBUTIONS)) is not None and not wanted.met:
        yield warning(
            "triton",
            f"{version}, where this torch asks for {wanted.name} {wanted.version}",
            "uninstall it and install torch again: something put another Triton over the one that belongs to it",
        )
    elif triton_release(version) < OLDEST_TRITON:
        oldest = ".".join(map(str, OLDEST_TRITON))
        yield missing("triton", f"{version} is too old", f"{oldest} or newer is needed: install a newer torch")
    else:
        yield ok("triton", f"{version}, compiles for {', '.join(sorted(triton_backends())) or 'nothing'}")


def compiler() -> Iterator[Finding]:
    """Look for a C compiler: Triton builds the code that launches kernels with it, on the host that runs them."""
    wished = os.environ.get("CC")
    found = next(filter(None, map(shutil.which, [wished] if wished else _COMPILERS)), None)
    if found is not None:
        yield ok("C compiler", found)
        return
    said = f"CC='{wished}' is no program" if wished else f"none of {', '.join(_COMPILERS)}"
    yield missing("C compiler", said, "install gcc: Triton builds its launchers with it")


def ray() -> Iterator[Finding]:
    """Look at Ray, which does not start where ``amdsmi`` is installed and no driver."""
    version = version_of("ray")
    if version is None:
        yield missing("ray", "not installed", "pip install ray")
        return
    if module_folder("amdsmi") is not None:  # only then is there reason to spend seconds on trying
        with Question(WORKER, {"about": "import", "module": "ray"}, _RAY_SECONDS) as question:
            problem = question.answer().get("problem")
        if problem:
            yield missing(
                "ray",
                f"{version} does not start beside amdsmi: {problem}",
                "pip uninstall amdsmi, or load the amdgpu driver: Ray imports amdsmi, which ends where it finds none",
            )
            return
    yield ok("ray", version)


def cores() -> Iterator[Finding]:
    """Count the cores that this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if count < _CORES:
        yield warning("cores", f"{count}", "give it two or more: compiling disturbs timing where they share one")
    else:
        yield ok("cores", f"{count}")


def memory() -> Iterator[Finding]:
    """Look at the host's free memory."""
    try:
        told = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free, total = (int(told[key].split()[0]) << 10 for key in ("MemAvailable", "MemTotal"))
    except (OSError, KeyError, ValueError, IndexError):
        return
    said = f"{free / _GIB:.1f} of {total / _GIB:.1f} GiB are free"
    if free < _MEMORY:
        yield warning("memory", said, f"free some: large shapes need {_MEMORY // _GIB} GiB for inputs and truths")
    else:
        yield ok("memory", said)


def shared_memory() -> Iterator[Finding]:
    """Look at the room in ``/dev/shm``, which containers have little of unless told."""
    try:
        about = os.statvfs("/dev/shm")
    except OSError:
        yield missing("/dev/shm", "not there", "mount a tmpfs on /dev/shm")
        return
    free, total = about.f_bavail * about.f_frsize, about.f_blocks * about.f_frsize
    said = f"{free / _GIB:.1f} of {total / _GIB:.1f} GiB are free"
    if free < _SHARED:
        yield warning("/dev/shm", said, "start the container with --shm-size=8g: Ray keeps its objects there")
    else:
        yield ok("/dev/shm", said)


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    python, torch, triton, compiler, ray, cores, memory, shared_memory,
)  # fmt: skip
"""In the order in which their findings are shown."""
