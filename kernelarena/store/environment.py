"""What a run ran on: versions, host and revision, for the manifest. Imports none of what it reports on."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from kernelarena import __version__
from kernelarena.spec.run import Environment

_PACKAGES = {"torch": "torch", "triton": "triton", "ray": "ray", "numpy": "numpy", "liger-kernel": "liger_kernel"}
"""Distributions whose version is part of the evidence, and what they are imported as."""


def environment(folder: Path | None = None) -> Environment:
    """Describe this process's surroundings.

    Parameters
    ----------
    folder
        The folder whose git revision is reported; the current one when absent.
    """
    versions = {"kernelarena": __version__, "python": platform.python_version()}
    for name, package in _PACKAGES.items():
        if (version := _version(name, package)) is not None:
            versions[name] = version
    host = f"{platform.system()} {platform.release()} {platform.machine()}".strip()
    if processor := _processor():
        host += f", {processor}"
    return Environment(versions=versions, host=host, git_revision=_revision(folder or Path()))


def _version(name: str, package: str) -> str | None:
    """Return the version of what provides ``package``: builds of Triton for one vendor go by other names."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        if importlib.util.find_spec(package) is None:
            return None
    providers = metadata.packages_distributions().get(package, [])
    return metadata.version(providers[0]) if providers else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _revision(folder: Path) -> str | None:
    revision = _git(folder, "rev-parse", "HEAD")
    if not revision:
        return None
    return revision + ("-dirty" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
