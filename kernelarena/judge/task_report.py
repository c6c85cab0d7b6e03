"""What verifying a task came to."""

from __future__ import annotations

from kernelarena.spec.base import Model


class ControlTally(Model):
    """One negative control over all trials of a dtype."""

    name: str
    tried: int
    """Altered answers that were held against the truth; 0 if the control does not apply to the task."""
    rejected: int
    vacuous: int
    """Accepted, rightly: as good as an honest answer on that trial."""
    passed: int
    """Accepted, wrongly."""
    needs: str = ""
    """What the task lacks, where the control does not apply."""


class DtypeReport(Model):
    """What was found at one dtype."""

    dtype: str
    trials: int
    controls: tuple[ControlTally, ...]

    def total(self, field: str) -> int:
        """Return the sum of a count over all controls."""
        return sum(int(getattr(tally, field)) for tally in self.controls)


class TaskProblem(Model):
    """Something wrong with a task: what, where, and what to do about it, in one sentence."""

    text: str
    dtype: str | None = None
    """None where it concerns all of them."""


class TaskReport(Model):
    """What is known of a task after it was verified."""

    task: str
    platform: str
    dtypes: tuple[DtypeReport, ...]
    problems: tuple[TaskProblem, ...]
    seconds: float

    @property
    def verified(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems
