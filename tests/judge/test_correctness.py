"""What several calls of one shape tell apart: answers that are kept, late, deferred, forged, or not the kernel's."""

import pytest

from kernelarena.judge import Judge
from kernelarena.spec import Reason, Status, Sweep
from tests.judge.test_judge import ADD_ONE, PREAMBLE

SWEEP = Sweep.model_validate({"hidden": {"count": 2}, "deadlines": {"call": 20}, "cache": False, "calls": 3})
RUN = "run(x.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format))"


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.fixture
def verdict(judge, kernel, platforms):
    def make(body, platform="cpu"):
        subject = kernel(PREAMBLE, task="add_one")
        subject = subject.model_copy(update={"files": {"kernel.py": subject.files["kernel.py"] + body}})
        return judge.judge(subject, ADD_ONE, platforms[platform], SWEEP, hidden_seed=11)

    return make


CHEATS = {
    "kept by pointer": (
        f"kept = {{}}\ndef entry(x):\n    if x.data_ptr() not in kept:\n        kept[x.data_ptr()] = {RUN}\n"
        "    return kept[x.data_ptr()]\n",
        Reason.CACHED_RESULT,
    ),
    "kept by shape": (
        f"kept = {{}}\ndef entry(x):\n    key = x.shape, x.dtype\n    if key not in kept:\n        kept[key] = {RUN}\n"
        "    return kept[key].clone()\n",
        Reason.CACHED_RESULT,
    ),
    "kept by the last element": (
        f"kept = {{}}\ndef entry(x):\n    key = x.shape, x.dtype, float(x.flatten()[-1])\n"
        f"    if key not in kept:\n        kept[key] = {RUN}\n    return kept[key].clone()\n",
        Reason.CACHED_RESULT,
    ),
    "kept by value": (
        "kept = {}\ndef entry(x):\n    key = x.shape, x.dtype, str(x.double().tolist())\n"
        f"    if key not in kept:\n        kept[key] = {RUN}\n    y = torch.empty_like(kept[key])\n"
        "    y.copy_(kept[key])\n    return y\n",
        Reason.CACHED_RESULT,
    ),
    "one buffer for all answers": (
        "kept = {}\ndef entry(x):\n    x = x.contiguous()\n    key = x.shape, x.dtype\n"
        "    if key not in kept:\n        kept[key] = torch.empty_like(x)\n    return run(x, kept[key])\n",
        Reason.CACHED_RESULT,
    ),
    "finished by a thread": (
        "import threading, time\ndef entry(x):\n    x = x.contiguous()\n    y = torch.empty_like(x)\n"
        "    def later(z=run(x, torch.empty_like(x))):\n        time.sleep(0.2)\n        y.copy_(z)\n"
        "    threading.Thread(target=later).start()\n    return y\n",
        Reason.DEFERRED_WORK,
    ),
    "finished at garbage collection": (
        "class Late:\n    def __del__(self):\n        self.y.copy_(self.z)\n"
        "def entry(x):\n    x = x.contiguous()\n    late = Late()\n    late.y = torch.empty_like(x)\n"
        "    late.z = run(x, torch.empty_like(x))\n    late.me = late\n    return late.y\n",
        Reason.DEFERRED_WORK,
    ),
    "a tensor that computes when asked": (
        "class Lazy(torch.Tensor):\n    pass\n"
        f"def entry(x):\n    return {RUN}.as_subclass(Lazy)\n",
        Reason.DEFERRED_WORK,
    ),
    "right when first called": (
        f"calls = []\ndef entry(x):\n    y = {RUN}\n    calls.append(1)\n    return y if len(calls) < 2 else y * 0\n",
        Reason.NONDETERMINISTIC,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), CHEATS.values(), ids=CHEATS)
def test_an_answer_that_was_not_computed_for_its_question_is_named(verdict, body, reason):
    found = verdict(body)
    assert (found.status, found.reason) == (Status.FAIL, reason), found.detail


HONEST = {
    "a workspace kept by shape": (
        "kept = {}\ndef entry(x):\n    x = x.contiguous()\n    key = x.shape, x.dtype\n"
        "    if key not in kept:\n        kept[key] = torch.empty_like(x)\n    run(x, kept[key])\n"
        "    y = torch.empty_like(x)\n    add_one[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)\n"
        "    return y\n"
    ),
    "a thread that is waited for": (
        "import threading\ndef entry(x):\n    made = []\n"
        f"    thread = threading.Thread(target=lambda: made.append({RUN}))\n"
        "    thread.start()\n    thread.join()\n    return made[0]\n"
    ),
    "a check of the inputs and a log line": (
        "def entry(x):\n    x = x.contiguous()\n    torch._assert_async((x == x).any())\n"
        "    print('absmax', x.abs().amax().cpu())\n    return run(x, torch.empty_like(x))\n"
    ),
    "a view of a larger allocation": (
        "def entry(x):\n    x = x.contiguous()\n    room = torch.empty(x.numel() + 64, dtype=x.dtype, device='cuda')\n"
        "    y = room[32 : 32 + x.numel()].view(x.shape)\n    return run(x, y)\n"
    ),
}


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST)
def test_what_only_looks_like_it_passes(verdict, body):
    found = verdict(body)
    assert found.status is Status.PASS, f"{found.reason}: {found.detail}"


def test_who_forgets_the_row_is_wrong_and_no_cheat(verdict):
    body = (
        "@triton.jit\ndef first_row(x_ptr, y_ptr, N, BLOCK: tl.constexpr):\n"
        "    c = tl.arange(0, BLOCK)\n    x = tl.load(x_ptr + c, mask=c < N)\n"
        "    tl.store(y_ptr + tl.program_id(0) * N + c, x + 1, mask=c < N)\n"
        "def entry(x):\n    x = x.contiguous()\n    y = torch.empty_like(x)\n    M, N = x.shape\n"
        "    first_row[(M,)](x, y, N, BLOCK=triton.next_power_of_2(N))\n    return y\n"
    )
    assert verdict(body).reason is Reason.MISMATCH


@pytest.mark.parametrize(
    ("made", "reason"),
    [("torch.ones(3).to_sparse()", Reason.WRONG_DTYPE), ("[x] * 100000", Reason.WRONG_SHAPE)],
    ids=["sparse", "a hundred thousand"],
)
def test_outputs_of_odd_forms_are_named(verdict, made, reason):
    assert verdict(f"def entry(x):\n    {RUN}\n    return {made}\n").reason is reason


TAMPERING = {
    "a clock replaced": (
        f"import time\ndef entry(x):\n    time.perf_counter = lambda: 0.0\n    return {RUN}\n", Reason.TIMER_TAMPERING,
    ),
    "a comparison replaced at import": (
        f"torch.allclose = lambda *a, **k: True\ndef entry(x):\n    return {RUN}\n", Reason.JUDGE_TAMPERING,
    ),
    "around the modes": (
        "from torch.utils._mode_utils import no_dispatch\ndef entry(x):\n    with no_dispatch():\n        z = x + 0\n"
        f"    return {RUN.replace('x.contiguous()', 'z.contiguous()')}\n",
        Reason.JUDGE_TAMPERING,
    ),
    "below the dispatcher": (
        "keys = torch._C.DispatchKeySet(torch._C.DispatchKey.Python)\ndef entry(x):\n"
        f"    with torch._C._ExcludeDispatchKeyGuard(keys):\n        z = x + 0\n    return {RUN}\n",
        Reason.JUDGE_TAMPERING,
    ),
    "hunting, then raising": (
        "import gc\ndef entry(x):\n    found = [o for o in gc.get_objects() if isinstance(o, torch.Tensor)]\n"
        "    raise RuntimeError(len(found))\n",
        Reason.JUDGE_TAMPERING,
    ),
}  # fmt: skip


@pytest.mark.parametrize("platform", ["cpu", "mi300"])
@pytest.mark.parametrize(("body", "reason"), TAMPERING.values(), ids=TAMPERING)
def test_tampering_fails_whatever_is_computed(verdict, body, reason, platform):
    found = verdict(body, platform)
    assert (found.status, found.reason) == (Status.FAIL, reason), found.detail
    assert found.location is not None


def test_the_framework_may_not_answer_the_second_time(verdict):
    found = verdict(f"calls = []\ndef entry(x):\n    calls.append(1)\n    return {RUN} if len(calls) == 1 else x + 1\n")
    assert found.reason is Reason.FRAMEWORK_FALLBACK
