"""What every compiler of C++ kernels answers."""

from __future__ import annotations

import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelarena.platforms.toolchains.artefact import Needs
from kernelarena.platforms.toolchains.cpp.diagnostics import Diagnostic

INCLUDE = Path(__file__).parent / "include"
"""Holds ``kernelarena.h``."""
RECORDER = Path(__file__).parent / "recorder.cpp"
"""What host code is linked with in place of the vendor's runtime."""
WATCHER = Path(__file__).parent / "watcher.cpp"
"""What it is linked with to run on a device, before the runtime that the process has loaded."""
_PATIENCE = 60  # seconds for a compiler to say which version it is, on a busy host


class Missing(Exception):
    """No compiler here builds for a chip; the message says what to install."""


@dataclass(frozen=True)
class Compiler(ABC):
    """A compiler that this host has.

    Attributes
    ----------
    program
        Its path.
    version
        What it says of itself, for verdicts: ``nvcc 13.0.88``.
    """

    program: str
    version: str

    @abstractmethod
    def why_not(self, arch: str) -> str | None:
        """Return why it does not build for an architecture, with what to install; None if it does."""

    def translated(self, text: str) -> str:
        """Return a source in the language that this compiles, each line in its place; most need no translation."""
        return text

    def lacks(self, error: Diagnostic) -> str | None:
        """Return what of the language it does not have, where an error is about that and not the source's fault."""
        return None

    @abstractmethod
    def host(self, source: Path, output: Path) -> list[str]:
        """Return the command that compiles host code without any kernel in it to an object file."""

    @abstractmethod
    def unit(self, arch: str, source: Path, output: Path, include: list[Path]) -> list[str]:
        """Return the command that compiles one source, kernels and host code, to an object file.

        It has the compiler print what each kernel needs.
        """

    @abstractmethod
    def link(self, objects: list[Path], output: Path) -> list[str]:
        """Return the command that makes a shared library of object files, without the vendor's runtime."""

    def assembly(self, arch: str, source: Path, output: Path, include: list[Path]) -> list[str]:
        """Return the command that writes the assembly text of the device's code.

        Raises
        ------
        NotImplementedError
            Where there is none that an emulator takes.
        """
        raise NotImplementedError(f"{self.version} writes no assembly text that an emulator takes")

    @abstractmethod
    def prepare(self, arch: str, folder: Path) -> None:
        """Lay out what the commands need beside the sources, in a folder that may be written to."""

    @abstractmethod
    def needs(self, output: str) -> dict[str, Needs]:
        """Return what each kernel needs, by its name in the binary, from what :meth:`unit` printed."""

    @abstractmethod
    def is_remark(self, line: str) -> bool:
        """Whether a line of output is told because :meth:`unit` asked for it, and not by the source's fault."""

    @property
    def translator(self) -> str | None:
        """What :meth:`translated` translates with, and its version; None where there is nothing to translate."""
        return None

    @property
    @abstractmethod
    def prelude(self) -> str:
        """Lines of C++ that bring in the runtime's declarations."""

    @property
    @abstractmethod
    def error_type(self) -> str:
        """What the runtime's functions return; zero is success in all of them."""


def ask(command: list[str], environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return the exit status and the output of a program of the host's; 127 where it cannot be run."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_PATIENCE,
            env=None if environment is None else dict(environment), check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout.decode(errors="replace")


def number(expression: str, text: str) -> int:
    """Return the number that an expression's first group finds in ``text``; 0 where it does not."""
    match = re.search(expression, text)
    return int(match[1]) if match else 0
