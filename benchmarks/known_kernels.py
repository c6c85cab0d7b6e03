"""Kernels that take as long as one likes, so that their ratio is known before it is measured.

The *loop* multiplies each element by minus one, so often that the chain of dependent multiplications takes nearly all
of the time. Its time is a constant and so much for each step; its answer is exact, so that it can be checked however
long it runs. The *elementwise* kernel is the one by which devices prove their health: its time is that of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernelarena.judge import health
from kernelarena.spec import Kernel, Language, Shape, TaskSource

_WIDTH = 65536
"""Elements of the loop: some blocks for each multiprocessor of today's chips, all of them resident at once."""
_GROWTH = 4
_TOLD_APART = 1.05
"""What is more work takes longer by this factor, or tells nothing of the time of a step."""
_LOOPS = {
    Language.TORCH: """
def entry(x, steps):
    for _ in range(steps):
        x = x * -1.0
    return x
""",
    Language.TRITON: """
import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["steps"])
def turn(x_ptr, y_ptr, minus_one, steps, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in range(steps):
        x = x * minus_one  # which the compiler does not know
    tl.store(y_ptr + i, x, mask=i < n)


def entry(x, steps):
    y = torch.empty_like(x)
    turn[(triton.cdiv(x.numel(), 256),)](x, y, -1.0, steps, x.numel(), BLOCK=256)
    return y
""",
}
_LOOP_TASK = TaskSource.model_validate(
    {
        "task": {
            "id": "turned",
            "title": "Minus a vector, again and again",
            "kind": "elementwise",
            "source": {"suite": "benchmark", "name": "turned"},
            "signature": "turned(x: [N], steps: int) -> y: [N]",
            "dtypes": ["float32"],
            "distributions": ["normal"],
            "layouts": ["contiguous"],
            "dims": {"N": {"max": _WIDTH}, "S": {"max": 1 << 30}},
            "visible": [{"N": _WIDTH, "S": 1}],
            "production": [{"N": _WIDTH, "S": 1}],
            "work": {"flops": "N*S", "bytes": "2*N*itemsize"},
        },
        "reference": """
def inputs(shape, rng):
    return {"x": rng.tensor(shape["N"]), "steps": shape["S"]}


def reference(x, steps):
    return -x if steps % 2 else x.clone()
""",
        "origin": "benchmark",
    }
)


@dataclass(frozen=True)
class Known:
    """A kernel of which there can be more or less.

    Attributes
    ----------
    name
        Of the kernel.
    task
        What it computes.
    function
        What its device code is called.
    dims
        Of its shape, for so much work.
    most
        Work beyond which its tensors get too large to be drawn in passing.
    """

    name: str
    task: TaskSource
    function: str
    sources: dict[Language, str]
    dims: Callable[[int], dict[str, int]]
    most: int

    def kernel(self, language: Language) -> Kernel:
        """Return the submission, in Triton or in the framework's own operators."""
        return Kernel(
            id=self.name, task=self.task.task.id, language=language, file="kernel.py", function="entry",
            files={"kernel.py": self.sources[language]}, origin="benchmark",
        )  # fmt: skip

    def shape(self, work: int) -> Shape:
        """Return the shape of so much work."""
        return Shape(dims=self.dims(work), dtype="float32")


LOOP = Known("loop", _LOOP_TASK, "turn", _LOOPS, lambda work: {"N": _WIDTH, "S": work}, 1 << 30)
ELEMENTWISE = Known(
    "elementwise", health.TASK, "double",
    {language: health.probe(language).files["kernel.py"] for language in _LOOPS},
    lambda work: {"N": 1024 * work}, 1 << 15,
)  # fmt: skip
"""Up to 256 MiB, read and written."""
KNOWN = {known.name: known for known in (LOOP, ELEMENTWISE)}


@dataclass(frozen=True)
class Curve:
    """How long so much work takes, between points at which it was measured.

    Parameters
    ----------
    work, seconds
        Of each point, both ascending.
    """

    work: tuple[int, ...]
    seconds: tuple[float, ...]

    def at(self, work: float) -> float:
        """Return the seconds that so much work takes."""
        return float(np.interp(work, self.work, self.seconds))

    def work_for(self, seconds: float) -> int:
        """Return the work that takes about so long: at least that of the first point, at most that of the last."""
        return round(float(np.interp(seconds, self.seconds, self.work)))

    def slower(self, work: int, slowdown: float) -> tuple[int, float]:
        r"""Return the work that takes ``slowdown`` times as long, and by what it is really slower.

        What is added is :math:`(s - 1) t`, of which the slope of the curve says how much work it is. If times are wrong
        by a share :math:`\epsilon`, say by an overhead that is taken for work, the ratio is wrong by
        :math:`(s - 1) \epsilon` alone: 0.3 % where a kernel of 3 µs looks a tenth too long.
        """
        more = self.work_for(slowdown * self.at(work))
        return more, self.at(more) / self.at(work)


def curve(known: Known, longest: float, seconds: Callable[[Shape], float]) -> Curve:
    """Measure how long a kernel takes, for more and more work until it takes ``longest`` seconds.

    Parameters
    ----------
    known
        The kernel.
    longest
        s.
    seconds
        Measures it on one shape.
    """
    work, points = 1, [(1, seconds(known.shape(1)))]
    while points[-1][1] < longest and work < known.most:
        work = min(work * _GROWTH, known.most)
        took = seconds(known.shape(work))
        if took > _TOLD_APART * points[-1][1]:
            points.append((work, took))
    return Curve(*zip(*points, strict=True))


def spread(shortest: float, longest: float, count: int) -> Sequence[float]:
    """Return durations at equal ratios, s."""
    return [float(duration) for duration in np.geomspace(shortest, longest, count)]
