"""What is put before the judge, but for where."""

from __future__ import annotations

from dataclasses import dataclass

from kernelarena.judge.problems import trial_seed
from kernelarena.spec import Kernel, Sweep, TaskSource


@dataclass(frozen=True)
class Case:
    """One kernel, what it should compute, and on whose terms that is found out.

    Attributes
    ----------
    kernel
        The submission, or a program that is held to the same.
    task
        What it should compute.
    sweep
        How thoroughly it is asked, and how long it may take.
    hidden_seed
        The run's: all that a kernel must not foresee follows from it.
    """

    kernel: Kernel
    task: TaskSource
    sweep: Sweep
    hidden_seed: int

    def seed(self, stage: str, index: int = 0) -> int:
        """Return the seed of one question, or of one decision; see :func:`~kernelarena.judge.problems.trial_seed`."""
        return trial_seed(self.hidden_seed, self.task.task.id, stage, index)
