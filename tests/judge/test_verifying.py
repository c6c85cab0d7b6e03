"""Sound tasks are found sound; each way in which a task can be broken is found, and said in words that help."""

from __future__ import annotations

import re
import textwrap

import pytest
import torch

from kernelarena.judge.verifying import Job, Unusable, Verification
from kernelarena.spec import Distribution, Layout, TaskSource
from kernelarena.spec.platform import Budget
from kernelarena.spec.task import Task

INPUTS = "def inputs(shape, rng):\n    return {'x': rng.tensor(shape['M'], shape['N'])}\n"
WORK = {"flops": "M*N", "bytes": "2*M*N*itemsize"}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def source(code: str, **changes: object) -> TaskSource:
    fields = {
        "id": "op", "title": "Op", "kind": "elementwise", "source": {"suite": "lab", "name": "op"},
        "signature": "op(x: [M, N]) -> y: [M, N]", "dtypes": ["float32"],
        "dims": {"M": {"min": 1, "max": 64}, "N": {"min": 1, "max": 256}},
        "visible": [{"M": 16, "N": 64}, {"M": 5, "N": 33}], "production": [{"M": 64, "N": 200}], "work": WORK,
        "distributions": ["normal", "uniform"], "layouts": ["contiguous", "strided"],
    }  # fmt: skip
    code = textwrap.dedent(code)
    text = code if "def inputs" in code else INPUTS + code
    return TaskSource(task=Task(**{**fields, **changes}), reference="import torch\n" + text, origin="tasks/lab/op")


@pytest.fixture
def verify(platforms):
    def run(code: str, **changes: object):
        platform = platforms["cpu"].model_copy(update={"budget": Budget(elements=2048, flops=500_000, outer=64)})
        verification = Verification(Job(task=source(code, **changes), platform=platform))
        steps = list(verification.steps())
        assert steps[-1][0] == steps[-1][1] > 0
        return verification.report()

    return run


_WAITING = """
    def inputs(shape, rng):
        return {{"like": rng.tensor(0), "m": shape["M"], "n": shape["N"], "seed": rng.seed()}}
    def reference(like, m, n, seed):
        numbers = torch.Generator(like.device).manual_seed(seed)
        return torch.empty(m, n, dtype=like.dtype, device=like.device).exponential_({rate}, generator=numbers)
"""
_RANDOM = {"kind": "random", "law": {"name": "exponential", "rate": 2.0}, "layouts": ["contiguous"]}
SOUND = {
    "elementwise": ("def reference(x):\n    return x * 2 + 1\n", {}),
    "a scalar": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]), "eps": 1e-3, "flip": False}
        def reference(x, eps, flip):
            return (x.flip(-1) if flip else x) + eps
        """,
        {},
    ),
    "integers": ("def reference(x):\n    return x.argmax(-1)\n", {}),
    "booleans": ("def reference(x):\n    return x > 0.1\n", {}),
    "several outputs": ("def reference(x):\n    return x.sum(-1), x.amax(-1), x.argsort(dim=-1, stable=True)\n", {}),
    "an index": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]), "row": rng.integers(0, shape["M"], 7)}
        def reference(x, row):
            return x[row]
        """,
        {},
    ),
    "a mask": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]), "keep": rng.mask(shape["M"], shape["N"])}
        def reference(x, keep):
            return torch.where(keep, x, torch.zeros_like(x))
        """,
        {},
    ),
    "specials": (
        "def reference(x):\n    return torch.relu(x) + x\n",
        {"distributions": ["normal", "specials"]},
    ),
    "a view": ("def reference(x):\n    return x.t()\n", {"kind": "view-or-metadata"}),
    "in place, written over": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]), "y": rng.tensor(shape["M"], shape["N"])}
        def reference(x, y):
            return y.clone()
        """,
        {"in_place": "x"},
    ),
    "random": (_WAITING.format(rate=2.0), _RANDOM),
    "half precision": ("def reference(x):\n    return torch.softmax(x, -1)\n", {"dtypes": ["float16", "bfloat16"]}),
    "reduced precision allowed": (
        "def reference(x):\n    return x @ x.t()\n",
        {"allow_reduced_precision": True, "dims": {"M": {"min": 8, "max": 64}, "N": {"min": 8, "max": 64}},
         "visible": [{"M": 16, "N": 64}], "production": []},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_sound_tasks_are_sound(name, verify):
    code, changes = SOUND[name]
    report = verify(code, **changes)
    assert report.problems == ()
    assert report.verified
    for found in report.dtypes:
        assert found.trials >= 8
        assert found.total("tried") == found.total("rejected") + found.total("vacuous")
        assert found.total("rejected") > 0


def test_what_does_not_apply_says_what_it_would_need(verify):
    (found,) = verify(SOUND["integers"][0]).dtypes
    needs = {tally.name: tally.needs for tally in found.controls}
    assert needs["1 % larger"] == "a floating-point output that resolves 1 %"
    assert needs["half accumulation"] == "a sum that can be taken apart"
    assert needs["outputs exchanged"] == "two outputs of one form"
    assert needs["zeros"] == ""
    (found,) = verify(*SOUND["reduced precision allowed"][:1], **SOUND["reduced precision allowed"][1]).dtypes
    needs = {tally.name: tally.needs for tally in found.controls}
    assert needs["tf32 products"] == needs["half accumulation"] == "a task that does not allow reduced precision"


BROKEN = {
    "another law": (_WAITING.format(rate=1.0), _RANDOM, "PyTorch's own sample is rejected.*the mean is"),
    "an input ignored": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]), "y": rng.tensor(shape["N"])}
        def reference(x, y):
            return x * 2
        """,
        {},
        "does not depend on the input 'y'",
    ),
    "an option ignored": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]), "eps": 1e-5}
        def reference(x, eps):
            return x * 2
        """,
        {},
        "does not depend on the input 'eps'",
    ),
    "an index ignored": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]), "row": rng.integers(0, shape["M"], 7)}
        def reference(x, row):
            return x[: row.numel()] * 2
        """,
        {"dims": {"M": {"min": 7, "max": 64}, "N": {"min": 1, "max": 256}}, "visible": [{"M": 16, "N": 64}]},
        "does not depend on the input 'row'",
    ),
    "a constant output": (
        "def reference(x):\n    return x * 2, torch.ones_like(x)\n", {}, r"out\[1\] is the same whatever the inputs"
    ),
    "not finite": ("def reference(x):\n    return x.log()\n", {}, "reference() is not finite on its own inputs"),
    "inputs changed": ("def reference(x):\n    return x.add_(1) * 2\n", {}, "changes its input 'x'"),
    "inputs returned": ("def reference(x):\n    return x.view_as(x)\n", {}, r"returns its own input 'x' as out\[0\]"),
    "nondeterministic": (
        "def reference(x):\n    return x + torch.rand(x.shape, dtype=x.dtype, device=x.device)\n",
        {},
        "another answer when it is called again",
    ),
    "inputs not from the seed": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]).add_(torch.rand(1).item())}
        def reference(x):
            return x * 2
        """,
        {},
        "other inputs when it is called again with the same seed",
    ),
    "inputs that never change": (
        """
        def inputs(shape, rng):
            size = shape["M"], shape["N"]
            return {"x": rng.tensor(*size).copy_(torch.arange(size[0] * size[1]).view(size))}
        def reference(x):
            return x * 2
        """,
        {},
        "the same inputs for every seed",
    ),
    "a dimension ignored": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], 64)}
        def reference(x):
            return x * 2
        """,
        {},
        "ignores the dimension N",
    ),
    "a dtype ignored": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"], dtype="float32")}
        def reference(x):
            return x * 2
        """,
        {"dtypes": ["float32", "float16"]},
        "equal dtypes for different dtypes",
    ),
    "a layout ignored": (
        """
        def inputs(shape, rng):
            return {"x": rng.tensor(shape["M"], shape["N"]) * 2}
        def reference(x):
            return x + 1
        """,
        {},
        "ignores the layout",
    ),
    "a complex output": ("def reference(x):\n    return torch.fft.fft(x)\n", {}, r"out\[0\] is complex"),
    "a sparse output": ("def reference(x):\n    return x.relu().to_sparse()\n", {}, r"out\[0\] is no dense tensor"),
    "another form without data": (
        "def reference(x):\n    return x * 2 if x.is_meta else x[:1] * 2\n", {}, "on the meta device reference"
    ),
    "a size that follows from values": (
        "def reference(x):\n    return x[x > 0] * 2\n", {}, r"the size of out\[0\] depends on values"
    ),
    "another answer in float64": (
        "def reference(x):\n    return x * (2.1 if x.dtype is torch.float64 else 2.0)\n",
        {},
        "differs in float32 from itself in float64 by 0.04",
    ),
    "an answer at half precision that is far off": (
        "def reference(x):\n    return (x + 1000) - 1000 if x.dtype is torch.float16 else x * 1.0\n",
        {"dtypes": ["float32", "float16"]},
        "is rejected on|equals the right answer up to rounding",
    ),
    "an output that says nothing": (
        "def reference(x):\n    return 1 + x * 1e-9\n", {}, "equals the right answer up to rounding in all"
    ),
    "an answer that drowns": (
        "def reference(x):\n    return x.sum() * 1e-7 + x.new_full((x.shape[0],), 3.0)\n",
        {},
        "equals the right answer up to rounding",
    ),
    "work that cannot be computed": (
        "def reference(x):\n    return x * 2\n",
        {"work": {"flops": "M*N", "bytes": "M*N*itemsize/(N - 1)"}},
        "cannot be computed for M=.* N=1 |hidden shapes cannot be drawn",
    ),
    "a constraint that cannot be computed": (
        "def reference(x):\n    return x * 2\n", {"constraints": ["64 % (N - 1) >= 0"]}, "cannot be"
    ),
    "a reference that refuses some shapes": (
        "def reference(x):\n    assert x.shape[0] % 2 == 1 or x.shape[0] == 16, 'odd only'\n    return x * 2\n",
        {},
        "on M=.*odd only",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_tasks_are_named(name, verify):
    code, changes, words = BROKEN[name]
    report = verify(code, **changes)
    assert not report.verified
    texts = [problem.text for problem in report.problems]
    assert any(re.search(words.replace("()", r"\(\)"), text) for text in texts), texts
    assert all("\n" not in text for text in texts)


def test_a_checker_that_lets_wrong_answers_pass_is_found(verify, monkeypatch):
    from kernelarena.protocol import tolerance

    for name in ("K", "ULPS", "SUM_ULPS"):  # a tolerance such as one sets by hand: generous, to be on the safe side
        monkeypatch.setattr(tolerance, name, 1e5)
    monkeypatch.setattr(tolerance, "ROUNDINGS", 1e5)
    report = verify("def reference(x):\n    return torch.softmax(x, -1)\n")
    assert any("the checker lets" in problem.text for problem in report.problems), report.problems


def test_code_that_does_not_load_is_unusable(platforms):
    for text in ("import absent_module\n", "raise SystemExit(0)\n"):
        task = source(text + "def inputs(shape, rng): ...\n")
        with pytest.raises(Unusable, match=r"^tasks/lab/op/reference\.py:\d: cannot be loaded"):
            list(Verification(Job(task=task, platform=platforms["cpu"])).steps())


def test_every_distribution_and_layout_is_tried(verify, monkeypatch):
    seen = set()
    original = Verification._trial

    def trial(self, reference, shape, seed, tried):
        seen.add((shape.distribution, shape.layout))
        original(self, reference, shape, seed, tried)

    monkeypatch.setattr(Verification, "_trial", trial)
    verify(SOUND["elementwise"][0], distributions=list(Distribution)[:6], layouts=list(Layout))
    assert {one for one, _ in seen} == set(list(Distribution)[:6])
    assert {one for _, one in seen} == set(Layout)


def test_the_same_seed_finds_the_same(verify):
    code, changes = SOUND["half precision"]
    first, second = verify(code, **changes), verify(code, **changes)
    assert first.dtypes == second.dtypes
