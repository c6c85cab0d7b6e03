"""What is judged otherwise than by the values of new outputs: operators in place, views, and random ones."""

import pytest

from kernelarena.judge import Judge
from kernelarena.spec import Reason, Status, Sweep
from kernelarena.spec.catalogue import load_tasks

SWEEP = Sweep.model_validate({"hidden": {"count": 2}, "deadlines": {"call": 20}, "cache": False, "calls": 3})
DECLARED = """\
id: {id}
title: A task of its kind
source: {{suite: lab, name: {id}}}
signature: "{id}(x)"
dtypes: [float32, float16]
dims: {{M: {{max: 512}}, N: {{max: 512}}}}
visible: [{{M: 32, N: 128}}, {{M: 33, N: 65}}]
work: {{flops: "M*N", bytes: "2*M*N*itemsize"}}
"""
TASKS = {
    "add_in_place": """
kind: elementwise
inputs: {x: [M, N], y: [M, N]}
in_place: x
reference: x + y
""",
    "turned": """
kind: view-or-metadata
inputs: {x: [M, N]}
contract: [values, strides]
reference: x.t()
""",
    "blank": """
kind: view-or-metadata
inputs: {like: {size: [0]}, m: {value: M}, n: {value: N}}
contract: [strides]
reference: torch.empty_strided((m, n), (1, m), dtype=like.dtype, device=like.device)
layouts: [contiguous]
""",
    "filled": """
kind: creation
inputs: {like: {size: [0]}, m: {value: M}, n: {value: N}}
reference: torch.zeros((m, n), dtype=like.dtype, device=like.device)
layouts: [contiguous]
""",
    "waiting": """
kind: random
inputs: {like: {size: [0]}, m: {value: M}, n: {value: N}, rate: {choices: [0.5, 2.0]}, seed: {seed: true}}
law: {name: exponential, rate: rate}
reference: >-
  torch.empty((m, n), dtype=like.dtype, device=like.device)
  .exponential_(rate, generator=torch.Generator(like.device).manual_seed(seed))
layouts: [contiguous]
""",
}


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    root = tmp_path_factory.mktemp("tasks")
    for name, text in TASKS.items():
        (root / "lab" / name).mkdir(parents=True)
        (root / "lab" / name / "task.yaml").write_text(DECLARED.format(id=name) + text)
    return load_tasks([root])


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.fixture
def verdict(judge, kernel, platforms, declared):
    def make(task, body, platform="cpu"):
        subject = kernel("import torch, triton\nimport triton.language as tl\n" + body, task=task)
        return judge.judge(subject, declared[task], platforms[platform], SWEEP, hidden_seed=3)

    return make


ADD = """
@triton.jit
def add(x_ptr, y_ptr, N, x_stride, y_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + at, mask=at < N)
        y = tl.load(y_ptr + row * y_stride + at, mask=at < N)
        tl.store({target} + at, {value}, mask=at < {end})

def entry(x, y):
    M, N = x.shape
    add[({rows},)](x, y, N, x.stride(0), y.stride(0), BLOCK=128)
    return {result}
"""
ADDED = {"target": "x_ptr + row * x_stride", "value": "x + y", "end": "N", "rows": "M", "result": "None"}
IN_PLACE = {
    "right": ({}, None),
    "it returns what it likes": ({"result": "y"}, None),
    "a row is left out": ({"rows": "max(M - 1, 1)"}, Reason.MISMATCH),
    "the padding is written": (
        {"end": "(N + tl.where((row == 0) & (x_stride > N), 8, 0))"},
        Reason.OUT_OF_BOUNDS_WRITE,
    ),
    "the other input is changed": ({"target": "y_ptr + row * y_stride"}, Reason.INPUT_MUTATED),
    "the sum is returned and not written": ({"value": "x", "result": "x + y"}, Reason.MISMATCH),
}


@pytest.mark.parametrize(("changes", "reason"), IN_PLACE.values(), ids=IN_PLACE)
def test_in_place_the_changed_input_is_the_answer(verdict, changes, reason):
    found = verdict("add_in_place", ADD.format(**{**ADDED, **changes}))
    assert found.reason is reason, found.detail


def test_what_is_done_in_place_by_the_framework_is_no_kernels_work(verdict):
    found = verdict("add_in_place", ADD.format(**{**ADDED, "value": "x"}) + "\ndef entry(x, y):\n    x.add_(y)\n")
    assert found.reason in (Reason.NO_DEVICE_KERNEL, Reason.FRAMEWORK_FALLBACK)


_SAME_FORM = (
    "def entry(x):\n    y = x.t()\n    return torch.empty_strided(y.shape, y.stride(), dtype=x.dtype).fill_(1)\n"
)
VIEWS = {
    "turned": ("def entry(x):\n    return x.t()\n", None),
    "turned and copied": ("def entry(x):\n    return x.t().contiguous()\n", Reason.WRONG_SHAPE),
    "something else": (_SAME_FORM, Reason.MISMATCH),
}


@pytest.mark.parametrize("platform", ["cpu", "mi300", "h100"])
@pytest.mark.parametrize(("body", "reason"), VIEWS.values(), ids=VIEWS)
def test_a_view_takes_no_launch_and_keeps_its_strides(verdict, body, reason, platform):
    found = verdict("turned", body, platform)
    if platform == "h100" and reason is Reason.MISMATCH:
        reason = None  # nothing is computed there: it is compiled
    assert found.reason is reason, found.detail
    assert not found.has_speed


def test_of_what_is_not_initialised_no_values_count(verdict):
    body = "def entry(like, m, n):\n    return torch.full((n, m), {}, dtype=like.dtype, device=like.device){}\n"
    assert verdict("blank", body.format("7.0", ".t()")).status is Status.PASS
    found = verdict("blank", body.format("7.0", ".t().contiguous()"))
    assert found.reason is Reason.WRONG_SHAPE
    assert "strides" in found.detail


FILL = """
@triton.jit
def fill(y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.zeros((BLOCK,), y_ptr.dtype.element_ty), mask=at < n)

def entry(like, m, n):
    y = torch.empty((m, n), dtype=like.dtype, device=like.device)
    fill[(triton.cdiv(m * n, 1024),)](y, m * n{less}, BLOCK=1024)
    return y
"""


def test_what_is_created_is_created_by_a_kernel(verdict):
    assert verdict("filled", FILL.format(less="")).status is Status.PASS
    assert verdict("filled", FILL.format(less=" - 1")).reason is Reason.UNWRITTEN_OUTPUT
    found = verdict("filled", "def entry(like, m, n):\n    return torch.zeros((m, n), dtype=like.dtype)\n")
    assert found.reason in (Reason.NO_DEVICE_KERNEL, Reason.FRAMEWORK_FALLBACK)


WAIT = """
@triton.jit
def wait(y_ptr, n, rate, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.rand({seed}, {at})
    tl.store(y_ptr + at, (-tl.log(1.0 - u) / {rate}).to(y_ptr.dtype.element_ty), mask=at < n)

def entry(like, m, n, rate, seed):
    y = torch.empty((m, n), dtype=like.dtype, device=like.device)
    wait[(triton.cdiv(m * n, 256),)](y, m * n, rate, {given}, BLOCK=256)
    return y
"""
DRAWN = {"seed": "seed", "at": "at", "rate": "rate", "given": "seed"}
RANDOM = {
    "right": ({}, None),
    "of another rate": ({"rate": "(rate * 1.2)"}, Reason.MISMATCH),
    "the same for every seed": ({"seed": "7"}, Reason.MISMATCH),
    "the same in every tile": ({"at": "tl.arange(0, BLOCK)"}, Reason.MISMATCH),
    "different at every call": ({"given": "int(torch.seed() % 2**31)"}, Reason.NONDETERMINISTIC),
}


@pytest.mark.parametrize(("changes", "reason"), RANDOM.values(), ids=RANDOM)
def test_what_is_random_is_tested_and_follows_from_its_seed(verdict, changes, reason):
    found = verdict("waiting", WAIT.format(**{**DRAWN, **changes}))
    assert found.reason is reason, found.detail
