"""What is installed, told without importing or loading any of it."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_PATIENCE = 20.0
"""Seconds for a compiler to say its version; it may lie on a network disk."""


@dataclass(frozen=True)
class TorchBuild:
    """A build of torch.

    Attributes
    ----------
    version
        ``2.9.0+rocm7.0``.
    runtimes
        The vendors' runtimes that it was built for, with their versions: ``{"hip": "7.0.51831"}``. Empty for a build
        that knows the processor alone.
    """

    version: str
    runtimes: dict[str, str] = field(default_factory=dict)


def torch_build() -> TorchBuild | None:
    """Return what the installed torch was built for, or None where there is none.

    It writes that into a file of its own, ``torch/version.py``, which is read: importing torch takes seconds.
    """
    folder = module_folder("torch")
    if folder is None:
        return None
    try:
        tree = ast.parse((folder / "version.py").read_text("utf-8"))
    except (OSError, SyntaxError, ValueError):
        return TorchBuild("of unknown version")
    said: dict[str, str] = {}
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            said.update({target.id: value.value for target in targets if isinstance(target, ast.Name)})
    version = said.pop("__version__", "of unknown version")
    return TorchBuild(version, {name: text for name, text in said.items() if name in ("cuda", "hip", "rocm", "xpu")})


def module_folder(name: str) -> Path | None:
    """Return where a module would be imported from, or None where there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Requirement:
    """What a distribution asks for in exactly one version."""

    name: str
    version: str

    @property
    def met(self) -> bool:
        """Whether that is installed; a build's own suffix (``+git…``) matters only where one is asked for."""
        found = version_of(self.name)
        return found is not None and self.version in (found, found.partition("+")[0])


def required_by(distribution: str, names: Iterable[str]) -> Requirement | None:
    """Return which of some distributions an installed one asks for, if it asks for one in exactly one version."""
    try:
        requirements = importlib.metadata.requires(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for requirement in requirements:
        exact = re.match(r"([\w.-]+)\s*\(?==\s*([\w.+!-]+)", requirement)
        if exact is not None and exact[1] in names:
            return Requirement(exact[1], exact[2])
    return None


def program_version(name: str) -> str | None:
    """Return where a program of ``PATH`` lies and which version it says it is, or None where there is none."""
    path = shutil.which(name)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} does not run: {type(error).__name__}"
    found = re.search(r"\b(\d+\.\d+(?:\.\d+)*)", done.stdout)
    return f"{path} {found[1]}" if found else path
