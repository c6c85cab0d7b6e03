"""The adapters of ``examples/liger``: they read, their references hold, and the package builds through them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.protocol.draw import fit
from kernelarena.protocol.sampler import Sampler
from kernelarena.spec import Evidence, Kernel, Reason, Shape, Status, Sweep, TaskSource
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.kernels import load_kernels
from kernelarena.spec.platform import Budget

FOLDER = Path(__file__).parents[2] / "examples" / "liger"
SMALL = Budget(elements=20_000, flops=10_000_000)
TASKS = load_tasks([FOLDER / "tasks"])
OWN = {name: source for name, source in TASKS.items() if FOLDER in Path(source.origin).parents}
KERNELS = {kernel.task: kernel for kernel in load_kernels([FOLDER / "kernels"], tasks=TASKS)[0]}
BUILT = ("rms_norm_backward", "rotary_embedding", "relu_squared")
"""One that reduces and asks how many multiprocessors there are, one that works in place, one that is plain."""
ROUNDED = {Reason.MISMATCH, Reason.REDUCED_PRECISION, Reason.NON_FINITE}
WRONG = {
    "group_norm": "sums in bfloat16; its variance is a difference of squares, below zero for constant rows",
    "group_norm_backward": "keeps mean and reciprocal deviation in the input's dtype",
    "softmax_backward": "multiplies and adds in bfloat16 where that is the input's dtype",
    "tvd": "adds in bfloat16 where that is the input's dtype",
}
"""What the package computes with fewer digits than the framework, and where it does so."""
SAMPLE = {"qwen2vl_mrope", "relu_squared"}

needs_liger = pytest.mark.skipif(
    importlib.util.find_spec("liger_kernel") is None, reason="liger-kernel is not installed (extra 'examples')"
)


def test_at_least_twenty_operators_have_one_adapter_each() -> None:
    kernels, left_out = load_kernels([FOLDER / "kernels"], tasks=TASKS)
    assert not left_out
    assert len(KERNELS) == len(kernels) >= 20
    assert OWN.keys() <= KERNELS.keys()


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda kernel: kernel.task)
def test_an_adapter_is_a_few_lines_around_the_package(kernel: Kernel) -> None:
    (source,) = kernel.files.values()
    assert "from liger_kernel.ops import" in source
    assert "triton" not in source  # the package's kernels are imported, none is written here
    assert len([line for line in source.splitlines() if line.strip()]) <= 12
    assert kernel.provenance.note is not None
    assert "liger-kernel" in kernel.provenance.note


@pytest.fixture(params=OWN.values(), ids=OWN)
def task(request: pytest.FixtureRequest) -> TaskSource:
    source: TaskSource = request.param
    return source


def test_a_reference_agrees_with_itself_at_every_precision(task: TaskSource) -> None:
    inputs, reference = functions(task)
    for dtype in task.task.dtypes:
        shape = small(task, dtype)
        given = inputs(shape, Sampler(shape, 5))
        wide = {name: value.double() if is_float(value) else value for name, value in given.items()}
        described = as_tuple(reference(**inputs(shape, Sampler(shape, 5, device="meta"))))
        for made, truth, outline in zip(
            as_tuple(reference(**given)), as_tuple(reference(**wide)), described, strict=True
        ):
            assert truth.dtype is torch.float64
            assert (made.dtype, made.shape) == (outline.dtype, outline.shape)
            assert not made.requires_grad
            assert made.isfinite().all()
            coarse = 0.02 if dtype == "float32" else 0.2  # of the output's norm; only mistakes are as large as that
            assert (made.double() - truth).norm() <= coarse * truth.norm()


def test_a_reference_leaves_its_inputs_alone(task: TaskSource) -> None:
    inputs, reference = functions(task)
    shape = small(task, task.task.dtypes[0])
    given = inputs(shape, Sampler(shape, 6))
    before = {name: value.clone() for name, value in given.items() if isinstance(value, torch.Tensor)}
    with torch.no_grad():  # as the judge calls it, gradients of its own or not
        reference(**given)
    assert all(torch.equal(given[name], value) for name, value in before.items())


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    judge = Judge()
    yield judge
    judge.close()


@needs_liger
@pytest.mark.parametrize("platform", ["mi300", "h100"])
@pytest.mark.parametrize("operator", BUILT)
def test_the_package_builds_through_its_adapter(judge: Judge, operator: str, platform: str) -> None:
    (chip,) = catalogue.resolve([platform], catalogue.load())
    sweep = Sweep(cache=False, evidence=Evidence.COMPILED)
    verdict = judge.judge(KERNELS[operator], TASKS[operator], chip, sweep, hidden_seed=1)
    assert verdict.status is Status.PASS, verdict.detail
    assert verdict.evidence is Evidence.COMPILED
    assert {launch.reason for launch in verdict.launches} == {None}
    assert verdict.visible.passed == verdict.visible.total == len(TASKS[operator].task.shapes())


@needs_liger
@pytest.mark.parametrize(
    "operator", [pytest.param(one, marks=[] if one in SAMPLE else [pytest.mark.thorough]) for one in KERNELS]
)
def test_the_package_is_right_on_a_chips_own_code(judge: Judge, operator: str) -> None:
    sweep = Sweep(evidence=Evidence.EMULATED)
    verdict = judge.judge(KERNELS[operator], TASKS[operator], catalogue.load()["mi300"], sweep, hidden_seed=5)
    said = f"{verdict.status} {verdict.gate} {verdict.reason}: {verdict.detail}"
    assert verdict.evidence is Evidence.EMULATED, said
    if operator in WRONG:
        assert verdict.reason in ROUNDED, said
    else:
        assert verdict.status is Status.PASS, said


def test_what_is_expected_to_be_wrong_or_judged_always_is_among_the_adapters() -> None:
    assert WRONG.keys() | SAMPLE <= KERNELS.keys()


def functions(source: TaskSource) -> tuple[Any, Any]:
    names: dict[str, Any] = {}
    exec(compile(source.reference, source.origin, "exec"), names)
    return names["inputs"], names["reference"]


def small(source: TaskSource, dtype: str) -> Shape:
    return Shape(dims=fit(source.task, source.task.visible[-1], dtype, SMALL), dtype=dtype)


def is_float(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def as_tuple(result: Any) -> tuple[torch.Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)
