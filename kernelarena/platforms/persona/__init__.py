"""A persona: a process that answers as a chip that is not there.

For disposable processes only. What a persona replaces is put back when the block ends, but modules that were imported
meanwhile keep what they saw.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kernelarena.platforms.persona.facts import PersonaFacts, facts

if TYPE_CHECKING:
    from kernelarena.platforms.persona.capture import Recorder
    from kernelarena.platforms.persona.ledger import Ledger
    from kernelarena.platforms.persona.observer import Observer
    from kernelarena.spec import Platform

__all__ = ["Persona", "PersonaFacts", "emulation", "execution", "facts", "persona"]


@dataclass(frozen=True)
class Persona:
    """What runs under a persona, for whoever put it on.

    Attributes
    ----------
    facts
        The chip that answers.
    ledger
        Which memory plays the device's.
    observer
        What framework operators do.
    recorder
        What Triton compiles and launches.
    """

    facts: PersonaFacts
    ledger: Ledger
    observer: Observer
    recorder: Recorder


@contextlib.contextmanager
def persona(
    platform: Platform,
    *,
    folder: Path,
    scratch: Path,
    emit: Callable[[dict[str, object]], None],
    exempt: frozenset[str] = frozenset(),
) -> Iterator[Persona]:
    """Have this process answer as ``platform``; Triton compiles for it and launches nothing.

    Put it on before the kernel's module is imported, because modules ask at import time.

    Parameters
    ----------
    platform
        A chip that Triton can compile for.
    folder
        The kernel's folder, which lines are reported relative to.
    scratch
        Where Triton may write.
    emit
        Called with each event: ``compiling``, ``compiled``, ``compile-failed``, ``launch``.
    exempt
        Operators of the framework whose results may be outputs, since the task allows them.

    Raises
    ------
    ValueError
        If there is no persona of the platform.
    """
    chip = facts(platform)

    from kernelarena.platforms.persona.capture import Recorder
    from kernelarena.platforms.persona.driver import PersonaDriver
    from kernelarena.platforms.persona.ledger import Ledger
    from kernelarena.platforms.persona.observer import Observer
    from kernelarena.platforms.persona.torch_face import torch_face
    from kernelarena.platforms.persona.triton_face import triton_face

    ledger = Ledger()
    observer = Observer(ledger, real=False, memory=chip.memory, exempt=exempt)
    recorder = Recorder(emit, folder, ledger, observer)
    with triton_face(PersonaDriver(chip, recorder), recorder, scratch), torch_face(chip, ledger, observer):
        yield Persona(chip, ledger, observer, recorder)


@contextlib.contextmanager
def execution(platform: Platform, scratch: Path) -> Iterator[Observer]:
    """Have this process answer as a chip, and run what is compiled for it in an emulator of that chip.

    Parameters
    ----------
    platform
        A chip that there is an emulator of.
    scratch
        Where Triton may write.

    Raises
    ------
    ValueError
        If there is no persona of the platform.
    """
    chip = facts(platform)

    from kernelarena.platforms.persona.driver import PersonaDriver
    from kernelarena.platforms.persona.executor import Executor
    from kernelarena.platforms.persona.torch_face import torch_face
    from kernelarena.platforms.persona.triton_face import triton_face

    observer = _observer(chip.memory)
    executor = Executor(observer)
    with triton_face(PersonaDriver(chip, executor), executor, scratch), torch_face(chip, observer.ledger, observer):
        yield observer


@contextlib.contextmanager
def emulation(platform: Platform, scratch: Path) -> Iterator[Observer]:
    """Have this process answer as a chip while kernels really run, in Triton's interpreter.

    Parameters
    ----------
    platform
        The chip, or a platform that names one as its ``persona``.
    scratch
        Where Triton may write.

    Raises
    ------
    ValueError
        If there is no persona of the platform.
    """
    if platform.persona is not None:
        from kernelarena.platforms.catalogue import load

        platform = load()[platform.persona]
    chip = facts(platform)

    from kernelarena.platforms.persona.arithmetic import mended_arithmetic
    from kernelarena.platforms.persona.driver import PersonaDriver
    from kernelarena.platforms.persona.torch_face import torch_face
    from kernelarena.platforms.persona.triton_face import interpreter_face, triton_face

    observer = _observer()
    with (
        triton_face(PersonaDriver(chip, None), None, scratch),
        interpreter_face(observer),
        mended_arithmetic(),
        torch_face(chip, observer.ledger, observer),
    ):
        yield observer


def _observer(memory: int | None = None) -> Observer:
    """Return an observer of a process in whose memory launches take place; a chip has ``memory`` bytes."""
    from kernelarena.platforms.persona.ledger import Ledger
    from kernelarena.platforms.persona.observer import Observer
    from kernelarena.platforms.persona.provenance import Provenance

    ledger = Ledger()
    return Observer(ledger, real=True, memory=memory, provenance=Provenance(ledger))
