"""A share that never forgets what it is a share of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """``passed`` of ``total``.

    Raises
    ------
    ValueError
        Unless ``0 <= passed <= total``.
    """

    passed: int = 0
    total: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.passed <= self.total:
            raise ValueError(f"{self.passed} of {self.total} is not a share")

    @property
    def share(self) -> float | None:
        """``passed / total``, 0 to 1; None of nothing, because 0 would claim that something failed."""
        return self.passed / self.total if self.total else None

    def __str__(self) -> str:
        """``9/12``."""
        return f"{self.passed}/{self.total}"
