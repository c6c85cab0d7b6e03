"""Which files of the host a kernel needs, and so may see: the interpreter, what it imports, compilers and libraries."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kernelarena.platforms.toolchains.cpp import places
from kernelarena.spec.base import Model
from kernelarena.spec.paths import cache_dir, state_dir

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/libx32", "/lib64", "/opt", "/nix/store", "/gnu/store")
_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf", "OpenCL")
_PARTS_OF_A_PREFIX = ("bin", "include", "lib", "lib64", "libexec", "nvvm", "pyvenv.cfg", "share", "targets")
"""What is shown of an installation whose folder holds other things too."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class View(Model):
    """Paths of the host that are shown; each at the place where it lies on the host."""

    read_only: tuple[str, ...]
    """Folders with all in them, and files; parents before what lies in them."""
    hidden: frozenset[str] = frozenset()
    """Folders within those that appear empty, but for what ``read_only`` names below them."""
    links: dict[str, str] = {}
    """Symbolic links to make, with their targets (``/bin`` where it is ``usr/bin``)."""
    devices: tuple[str, ...] = _DEVICES
    """Device nodes."""


def essential() -> list[str]:
    """Return files that must be readable, or nothing works: one of each kind."""
    modules = [_origin(name) for name in ("kernelarena", "torch", "triton", "numpy")]
    return [sys.executable, os.__file__, *filter(None, modules)]


def secrets() -> list[str]:
    """Return folders of this process that hold more than an installation: homes, runs, what others keep for a while."""
    found = [Path.home(), Path.cwd(), Path(tempfile.gettempdir()), state_dir(), cache_dir(), Path("/tmp")]
    return sorted({str(path.resolve()) for path in found} - {"/"})


def view(extra: Iterable[str] = (), private: Sequence[str] = ()) -> View:
    """Return what a kernel may see on this host.

    Parameters
    ----------
    extra
        Device nodes and other paths that a backend names; ``/sys`` is shown where there are nodes, because runtimes of
        devices look there.
    private
        Folders that must not be shown as a whole, whatever they lie in.
    """
    extra = list(extra)
    nodes = [path for path in extra if path.startswith("/dev/")]
    other = [path for path in extra if not path.startswith("/dev/")]
    links = {path: os.readlink(path) for path in _SYSTEM if os.path.islink(path)}
    wanted = [path for path in _SYSTEM if path not in links]
    wanted += [f"/etc/{name}" for name in _ETC]
    toolkits = [path for path in places.named() if not _holds_any(path, private)]
    wanted += [
        *_interpreter(private),
        *_imports(),
        *_library_path(private),
        *toolkits,
        *other,
        *(["/sys"] if nodes else []),
    ]
    existing = {os.path.abspath(path) for path in wanted if os.path.exists(path)}
    hidden = {path for path in [*private, f"{_package()}/data/tasks"] if os.path.isdir(path)} - existing
    shown, concealed = _outermost(existing, hidden)
    return View(
        read_only=shown,
        hidden=concealed,
        links=links,
        devices=tuple(dict.fromkeys([*_DEVICES, *(node for node in nodes if os.path.exists(node))])),
    )


def _interpreter(private: Sequence[str]) -> Iterator[str]:
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        if _holds_any(prefix, private):
            yield from (os.path.join(prefix, name) for name in _PARTS_OF_A_PREFIX)
        else:
            yield prefix
    yield from (sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def _imports() -> Iterator[str]:
    """Yield what can be imported, and nothing that merely lies beside it: a checkout has its runs there."""
    yield _package()
    for entry in {os.path.abspath(path) for path in sys.path if path} - {"/"}:
        if os.path.isfile(entry) or os.path.basename(entry) in ("site-packages", "dist-packages"):
            yield entry
        elif os.path.isdir(entry):
            yield from _importable(entry)
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):  # how setuptools finds a package that is worked on
            yield from getattr(module, "MAPPING", {}).values()


def _importable(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            package = entry.is_dir() and os.path.isfile(os.path.join(entry.path, "__init__.py"))
            if package or entry.name.endswith((".py", ".so", ".dist-info", ".egg-info")):
                yield entry.path


def _library_path(private: Sequence[str]) -> Iterator[str]:
    for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if os.path.isabs(entry) and not _holds_any(entry, private):
            yield entry


def _package() -> str:
    return str(Path(__file__).resolve().parents[2])


def _origin(module: str) -> str | None:
    found = importlib.util.find_spec(module)
    return None if found is None else found.origin


def _holds_any(folder: str, private: Sequence[str]) -> bool:
    return any(Path(path).is_relative_to(os.path.realpath(folder)) for path in private)


def _outermost(shown: set[str], hidden: set[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the paths to show and those to hide, without any that changes nothing."""
    kept: list[str] = []
    concealed: set[str] = set()
    for path in sorted(shown | hidden, key=lambda path: Path(path).parts):
        above = next((str(parent) for parent in Path(path).parents if str(parent) in {*kept, *concealed}), None)
        visible = above is not None and above not in concealed
        if path in shown and not visible:
            kept.append(path)
        elif path in hidden and visible:
            concealed.add(path)
    return tuple(kept), frozenset(concealed)
