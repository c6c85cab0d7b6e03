"""Reads the corpus of faulty C++ kernels and their honest twins: ``tests/corpus/cpp``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from kernelarena.spec import Kernel, Language, Reason
from kernelarena.spec.base import Identifier, Model
from kernelarena.spec.yamlfile import read

FOLDER = Path(__file__).parent / "cpp"
_LANGUAGES = {".hip": Language.HIP, ".cu": Language.CUDA}


class Fault(Model):
    """``fault.yaml``: what all of them say."""

    story: str
    """What is wrong, in a sentence."""
    task: Identifier
    platform: Identifier
    """A chip on which it is."""
    honest: str | None = None
    """The twin in ``honest/``, where several faults share one."""


class GateFault(Fault):
    """One that the compile gate tells."""

    reason: Reason
    says: str
    """Part of the verdict's detail."""
    at: str | None = None
    """Part of the line that it names."""
    seconds: float | None = None
    """The deadline, where that is what it fails by."""


class LaneFault(Fault):
    """One that shows where a warp has 64 lanes, and that the compile gate lets pass."""

    rule: Identifier
    """Which finds it."""
    at: str
    """Part of the line that is found."""


AnyFault = TypeVar("AnyFault", bound=Fault)


@dataclass(frozen=True)
class Specimen(Generic[AnyFault]):
    """A faulty kernel with its honest twin."""

    name: str
    about: AnyFault
    faulty: Kernel
    honest: Kernel


def specimens(group: str, kind: type[AnyFault]) -> Iterator[Specimen[AnyFault]]:
    """Yield the specimens of a group, a folder each."""
    for folder in sorted(path for path in (FOLDER / group).iterdir() if path.is_dir()):
        about = read(folder / "fault.yaml", kind)
        honest = _only(folder, "honest") if about.honest is None else FOLDER / "honest" / about.honest
        yield Specimen(folder.name, about, _kernel(_only(folder, "faulty"), about), _kernel(honest, about))


def _only(folder: Path, stem: str) -> Path:
    (path,) = folder.glob(f"{stem}.*")
    return path


def _kernel(path: Path, about: Fault) -> Kernel:
    return Kernel(
        id=f"{path.parent.name}-{path.stem.replace('_', '-')}", task=about.task, language=_LANGUAGES[path.suffix],
        file=path.name, function=about.task, files={path.name: path.read_text("utf-8")}, origin=str(path),
    )  # fmt: skip
