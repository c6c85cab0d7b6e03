"""The law that a random operator draws from, as task files write it: ``{name: exponential, rate: 1.5}``."""

from __future__ import annotations

from pydantic import model_validator

from kernelarena.spec.base import Model, StrEnum


class LawName(StrEnum):
    """A family of probability distributions."""

    BERNOULLI = "bernoulli"
    EXPONENTIAL = "exponential"
    NORMAL = "normal"
    POISSON = "poisson"
    UNIFORM = "uniform"


Parameter = float | str
"""A number, or the name of the input that holds it (a number, or a tensor with one for each element)."""


class Law(Model):
    """One distribution. Elements of the output are independent draws from it."""

    name: LawName
    p: Parameter | None = None
    """Probability of a one (``bernoulli``)."""
    rate: Parameter | None = None
    """Events per unit (``exponential``, whose mean is 1 / rate; ``poisson``, whose mean it is)."""
    low: Parameter | None = None
    """Smallest value (``uniform``)."""
    high: Parameter | None = None
    """Upper bound (``uniform``)."""
    mean: Parameter | None = None
    deviation: Parameter | None = None
    """Standard deviation (``normal``)."""

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Those that the law has, by name."""
        return {name: getattr(self, name) for name in PARAMETERS[self.name]}

    @model_validator(mode="after")
    def _complete(self) -> Law:
        given = {name for name in type(self).model_fields if name != "name" and getattr(self, name) is not None}
        if given != set(PARAMETERS[self.name]):
            raise ValueError(f"the law {self.name} has exactly the parameters {', '.join(PARAMETERS[self.name])}")
        return self


PARAMETERS: dict[LawName, tuple[str, ...]] = {
    LawName.BERNOULLI: ("p",),
    LawName.EXPONENTIAL: ("rate",),
    LawName.NORMAL: ("mean", "deviation"),
    LawName.POISSON: ("rate",),
    LawName.UNIFORM: ("low", "high"),
}
"""The parameters of each law."""
