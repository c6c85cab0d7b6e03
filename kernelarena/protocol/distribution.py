r"""Tells whether the outputs of a random operator are drawn from the law that its task declares.

Equality has no meaning for them, so a sample is tested. Every test has a bound on false alarms that holds for any
number of elements, and not only for many, so that :data:`FALSE_ALARMS` is what it says on a tensor of three elements
as well (on which nothing much can be told, and nothing is). The tests of one answer share it evenly. With
:math:`L = \ln(2 / \alpha)` for the share :math:`\alpha` of one test:

*support*
    An element outside of what the law can give is wrong, whatever the others are.
*mean*
    The sum of independent, centred terms with total variance V exceeds :math:`cL + \sqrt{c^2 L^2 + 2VL}` with
    probability :math:`\alpha` at most (Bernstein's inequality in its sub-gamma form; c = b/3 for terms that are bounded
    by b, 1/3 for Poisson's, the scale for exponential ones, 0 for normal ones). Where parameters differ from element
    to element, the sum is also taken with weights that do.
*distribution*
    Continuous laws: Kolmogorov and Smirnov's distance between the values, taken to [0, 1] by the law's own distribution
    function, and the uniform law. It exceeds :math:`\sqrt{L / 2n}` with probability :math:`\alpha` at most (Massart's
    form of the Dvoretzky-Kiefer-Wolfowitz inequality). Discrete laws: how often each value occurs, by the bound of the
    mean, which is finer than a chi-square and needs no large counts.
*independence*
    Products of centred ranks of elements so many places apart (neighbours, rows, tiles), or at the same place under
    two seeds, by the bound of the mean.

An output that was rounded to its dtype stands for all that rounds to it: each test takes the value that speaks most
for the kernel.

References
----------
S. Boucheron, G. Lugosi, P. Massart: Concentration Inequalities, Oxford 2013, sections 2.4 and 2.8.
P. Massart: The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality. Annals of Probability 18(3), 1990.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from kernelarena.protocol.tolerance import Comparison
from kernelarena.spec import Reason
from kernelarena.spec.law import Law, LawName

FALSE_ALARMS = 1e-6
"""Probability that a sample of the law is refused, at most."""
TILES = (1, 32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Distances at which elements must not resemble each other: who draws by a program's own index repeats its tile."""
_COUNTED = 24
"""Values of a discrete law that are counted, from its smallest."""
_RANK_VARIANCE = 1 / 12
"""Of a uniform rank; that of a discrete law's middle rank is smaller."""


@dataclass(frozen=True)
class Drawn:
    """One answer, with what it should have been drawn from.

    Attributes
    ----------
    law
        Its name and the names of its parameters.
    parameters
        Their values by the law's own names, float64, of the sample's size or 0-d.
    sample
        What was returned.
    """

    law: LawName
    parameters: Mapping[str, Tensor]
    sample: Tensor

    @cached_property
    def value(self) -> Tensor:
        """The sample in float64."""
        return self.sample.double()

    @cached_property
    def slack(self) -> Tensor:
        """How far from its element the value may have been before it was rounded to the output's dtype."""
        if not self.sample.is_floating_point():
            return torch.zeros_like(self.value)
        kind = torch.finfo(self.sample.dtype)
        slack = self.value.abs() * kind.eps + kind.tiny
        if self.law is LawName.UNIFORM:  # drawn on a grid of the dtype's own width, as PyTorch does
            slack += kind.eps * (self.parameters["high"] - self.parameters["low"])
        return slack

    def total(self, each: Tensor) -> float:
        """Return the sum over all elements of something that is known of each, or is the same for all."""
        return float(each.expand(self.sample.shape).sum())

    @cached_property
    def ranks(self) -> Tensor:
        """The law's distribution function at each element; the middle of the step where it steps."""
        if self.law in _DISCRETE:
            return (distribution_function(self, self.value) + distribution_function(self, self.value - 1)) / 2
        return distribution_function(self, self.value)


_DISCRETE = (LawName.BERNOULLI, LawName.POISSON)


def drawn(law: Law, inputs: Mapping[str, Any], sample: Tensor) -> Drawn:
    """Return an answer with the parameters that the inputs give its law."""
    values = {
        name: torch.as_tensor(inputs[one] if isinstance(one, str) else one, dtype=torch.float64, device=sample.device)
        for name, one in law.parameters.items()
    }
    return Drawn(law.name, values, sample)


def compare(law: Law, inputs: Mapping[str, Any], returned: Sequence[Tensor]) -> Comparison:
    """Test whether every output is a sample of the law whose parameters the inputs hold."""
    for output in returned:
        width = output.shape[-1] if output.dim() > 1 else None
        if (why := refused(drawn(law, inputs, output), width)) is not None:
            return Comparison(passed=False, reason=Reason.MISMATCH, detail=f"{why}; by chance 1 in a million is so")
    return Comparison(passed=True)


def refused(answer: Drawn, width: int | None = None) -> str | None:
    """Return why an answer is no sample of its law, in words, or None.

    Parameters
    ----------
    answer
        The sample.
    width
        Elements of a row, where that is one more distance at which elements may resemble each other.
    """
    if not answer.sample.numel():
        return None
    if (count := int((~_possible(answer)).sum())) > 0:
        return f"{count} of {answer.sample.numel()} elements are no value of the law {answer.law}"
    tests = [*_distribution_tests(answer), *_lag_tests(answer, width)]
    return next((text for excess, text in tests if excess(_level(len(tests)))), None)


def dependent(one: Drawn, other: Drawn) -> str | None:
    """Return in what two answers to different seeds resemble each other, or None."""
    if not one.sample.numel():
        return None
    if one.sample.numel() >= _TELLING and torch.equal(one.sample, other.sample) and _varies(one):
        return "two seeds give the same elements"
    products = (one.ranks - 0.5) * (other.ranks - 0.5)
    excess, _ = _resemblance(products, "")
    return "elements at the same place are correlated under two seeds" if excess(_level(1)) else None


_TELLING = 64
"""Elements; fewer may well be the same by chance, where a law has few values."""


def _varies(answer: Drawn) -> bool:
    """Whether the law leaves enough open: ones with probability 0.999 are the same in most samples."""
    if answer.law is LawName.BERNOULLI:
        p = answer.parameters["p"]
        return answer.total(p * (1 - p)) > _TELLING / 4
    return answer.law is not LawName.POISSON or answer.total(answer.parameters["rate"].clamp(max=1)) > _TELLING / 4


def distribution_function(answer: Drawn, at: Tensor) -> Tensor:
    """Return the probability of a value up to ``at`` (whole for discrete laws) by each element's own parameters."""
    given = answer.parameters
    match answer.law:
        case LawName.BERNOULLI:
            return torch.where(at < 0, 0.0, torch.where(at < 1, 1 - given["p"], 1.0))
        case LawName.EXPONENTIAL:
            return -torch.expm1(-given["rate"] * at.clamp(min=0))
        case LawName.NORMAL:
            return (1 + torch.erf((at - given["mean"]) / (given["deviation"] * math.sqrt(2)))) / 2
        case LawName.POISSON:
            return torch.where(at < 0, 0.0, torch.special.gammaincc(at.clamp(min=0) + 1, given["rate"]))
        case LawName.UNIFORM:
            return ((at - given["low"]) / (given["high"] - given["low"])).clamp(0, 1)


def _possible(answer: Drawn) -> Tensor:
    value, given = answer.value, answer.parameters
    match answer.law:
        case LawName.BERNOULLI:
            return (value == 0) | (value == 1)
        case LawName.EXPONENTIAL:
            return (value >= 0) & value.isfinite()
        case LawName.NORMAL:
            return value.isfinite()
        case LawName.POISSON:
            return (value >= 0) & (value == value.floor()) & value.isfinite()
        case LawName.UNIFORM:
            return (value >= given["low"] - answer.slack) & (value <= given["high"] + answer.slack)


def _moments(answer: Drawn) -> tuple[Tensor, Tensor, float]:
    """Return the mean and the variance of each element, and the scale c of the bound of their sum."""
    given = answer.parameters
    match answer.law:
        case LawName.BERNOULLI:
            return given["p"], given["p"] * (1 - given["p"]), 1 / 3
        case LawName.EXPONENTIAL:
            return 1 / given["rate"], given["rate"] ** -2, float((1 / given["rate"]).max())
        case LawName.NORMAL:
            return given["mean"], given["deviation"] ** 2, 0.0
        case LawName.POISSON:
            return given["rate"], given["rate"], 1 / 3
        case LawName.UNIFORM:
            width = given["high"] - given["low"]
            return (given["high"] + given["low"]) / 2, width**2 / 12, float(width.max()) / 6


class _Test:
    """Whether a statistic exceeds its bound at a level L; a list of these knows how many share the false alarms."""

    def __init__(self, statistic: float, variance: float, scale: float) -> None:
        self._statistic, self._variance, self._scale = statistic, variance, scale

    def __call__(self, level: float) -> bool:
        bound = self._scale * level + math.sqrt((self._scale * level) ** 2 + 2 * self._variance * level)
        return not self._statistic <= bound  # a sum that is no number is none that may pass


class _Distance(_Test):
    """The same of a distance between distribution functions."""

    def __init__(self, distance: float, count: int) -> None:
        super().__init__(distance, 1 / (4 * count), 0.0)


def _level(tests: int) -> float:
    return math.log(2 * tests / FALSE_ALARMS)


def _distribution_tests(answer: Drawn) -> Iterator[tuple[_Test, str]]:
    mean, variance, scale = _moments(answer)
    off = answer.value - mean
    total, count = float(off.sum()), answer.value.numel()
    # Rounding may have moved every element the same way.
    excess = max(abs(total) - float(answer.slack.sum()), 0.0)
    yield (
        _Test(excess, answer.total(variance), scale),
        f"the mean is {float(answer.value.mean()):.4g}, that of the law {float(mean.mean()):.4g}",
    )
    if float(spread := (mean - mean.mean()).abs().max()) > 0:
        # Weights of at most 1 leave the scale of the bound as it is.
        weight = (mean - mean.mean()) / spread
        excess = max(abs(float((off * weight).sum())) - float((answer.slack * weight.abs()).sum()), 0.0)
        yield _Test(excess, answer.total(variance * weight**2), scale), "elements do not follow their own parameters"
    if answer.law in _DISCRETE:
        yield from _counts(answer)
        return
    low = distribution_function(answer, answer.value - answer.slack).flatten().sort().values
    high = distribution_function(answer, answer.value + answer.slack).flatten().sort().values
    steps = torch.arange(count + 1, dtype=torch.float64, device=low.device) / count
    distance = max(float((steps[1:] - high).max()), float((low - steps[:-1]).max()))
    yield _Distance(distance, count), f"its distribution function is {distance:.2g} away from the law's"


def _counts(answer: Drawn) -> Iterator[tuple[_Test, str]]:
    """Yield a test of how often each value occurs."""
    most = 1 if answer.law is LawName.BERNOULLI else _COUNTED
    for number in range(most + 1):
        at = torch.tensor(float(number), dtype=torch.float64, device=answer.value.device)
        share = distribution_function(answer, at) - distribution_function(answer, at - 1)
        found, expected = int((answer.value == number).sum()), answer.total(share)
        spread = answer.total(share * (1 - share))
        yield _Test(abs(found - expected), spread, 1 / 3), f"{number} occurs {found} times, {expected:.4g} are expected"


def _lag_tests(answer: Drawn, width: int | None) -> Iterator[tuple[_Test, str]]:
    ranks = answer.ranks.flatten() - 0.5
    lags = {lag for lag in (*TILES, width or 1) if 2 * lag <= ranks.numel()}
    for lag in sorted(lags):
        # Every element is part of one pair alone, so that the products are independent of each other.
        whole = ranks[: ranks.numel() // (2 * lag) * 2 * lag].view(-1, 2, lag)
        yield _resemblance(whole[:, 0] * whole[:, 1], f"elements that are {lag} places apart are correlated")


def _resemblance(products: Tensor, text: str) -> tuple[_Test, str]:
    total, count = float(products.sum()), products.numel()
    return _Test(abs(total), count * _RANK_VARIANCE**2, 1 / 12), text  # products are bounded by 1/4
