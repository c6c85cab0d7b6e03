"""Whole verdicts, from a kernel's source to its reason, through real processes."""

import pytest

from kernelarena.judge import Judge
from kernelarena.spec import Durations, Evidence, Gate, Hidden, Platform, Reason, Status, Sweep, TaskSource, Verdict

ADD_ONE = TaskSource.model_validate(
    {
        "task": {
            "id": "add_one",
            "title": "Add one",
            "kind": "elementwise",
            "source": {"suite": "test", "name": "add_one"},
            "signature": "add_one(x: [M, N]) -> y: [M, N]",
            "dtypes": ["float32", "float16"],
            "dims": {"M": {"max": 4096}, "N": {"max": 4096}},
            "visible": [{"M": 16, "N": 1024}, {"M": 64, "N": 128}],
            "production": [{"M": 128, "N": 64}],
            "work": {"flops": "M*N", "bytes": "2*M*N*itemsize"},
        },
        "reference": "def inputs(shape, rng):\n    return {'x': rng.tensor(shape['M'], shape['N'])}\n\n\n"
        "def reference(x):\n    return x + 1\n",
        "origin": "a test",
    }
)
PREAMBLE = """
import torch
import triton
import triton.language as tl

@triton.jit
def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x + 1, mask=i < n)

def run(x, y, n=None, block=1024, **options):
    n = x.numel() if n is None else n
    add_one[(triton.cdiv(n, block),)](x, y, n, BLOCK=block, **options)
    return y
"""
SMALL = Sweep.model_validate({"hidden": {"count": 6}, "deadlines": {"compile": 60, "call": 20}, "cache": False})


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.fixture
def verdict(judge, kernel, platforms):
    def make(body, platform="cpu", *, sweep=SMALL, language="triton", preamble=PREAMBLE):
        subject = kernel(preamble, task="add_one", language=language)
        source = subject.files["kernel.py"] + body
        subject = subject.model_copy(update={"files": {"kernel.py": source}})
        return judge.judge(subject, ADD_ONE, platforms[platform], sweep, hidden_seed=20)

    return make


HONEST = "def entry(x):\n    x = x.contiguous()\n    return run(x, torch.empty_like(x))\n"


def test_an_honest_kernel_passes_every_gate(verdict):
    found = verdict(HONEST)
    assert (found.status, found.gate, found.evidence) == (Status.PASS, Gate.HIDDEN, Evidence.EMULATED)
    assert found.visible.passed == found.visible.total >= 4
    assert found.hidden.passed == found.hidden.total == 6
    assert sum(tally.total for tally in found.hidden.by_family.values()) == 6
    assert {trial.shape.dtype for trial in found.trials} == {"float32", "float16"}
    assert all(trial.error is not None and trial.error <= 1 for trial in found.trials)


def test_the_same_seed_gives_the_same_trials(verdict):
    first, second = verdict(HONEST), verdict(HONEST)
    assert [(trial.shape, trial.error) for trial in first.trials] == [
        (trial.shape, trial.error) for trial in second.trials
    ]


def test_without_the_hidden_gate_nothing_hidden_is_run(verdict):
    found = verdict(HONEST, sweep=SMALL.model_copy(update={"hidden": Hidden(enabled=False)}))
    assert (found.status, found.gate, found.hidden.total) == (Status.PASS, Gate.CORRECTNESS, 0)


FAULTS = {
    "wrong everywhere": ("return run(x, torch.empty_like(x)) * 1.01", Reason.MISMATCH),
    "wrong shape": ("return run(x, torch.empty_like(x)).t()[:1]", Reason.WRONG_SHAPE),
    "wrong dtype": ("return run(x, torch.empty_like(x, dtype=torch.bfloat16))", Reason.WRONG_DTYPE),
    "two outputs": ("y = run(x, torch.empty_like(x))\n    return y, y", Reason.WRONG_SHAPE),
    "no output": ("run(x, torch.empty_like(x))", Reason.WRONG_DTYPE),
    "in place": ("return run(x, x)", Reason.INPUT_MUTATED),
    "half written": ("return run(x, torch.empty_like(x), n=x.numel() // 2)", Reason.UNWRITTEN_OUTPUT),
    "never launched": ("return torch.empty_like(x)", Reason.NO_DEVICE_KERNEL),
    "past the end of the output": (
        "y = torch.empty_like(x)\n    run(x, y)\n    add_one[(1,)](x, y[-1:, -1:], 8, BLOCK=8)\n    return run(x, y)",
        Reason.OUT_OF_BOUNDS_WRITE,
    ),
    "past the end of the input": (
        "return run(x, torch.empty(x.numel() + 100000, dtype=x.dtype, device='cuda'), n=x.numel() + 90000)"
        "[: x.numel()].view(x.shape)",
        Reason.ILLEGAL_ACCESS,
    ),
    "not a number": ("return run(x, torch.empty_like(x)) / 0 * 0", Reason.NON_FINITE),
    "by the framework": ("return x + 1", Reason.FRAMEWORK_FALLBACK),
    "host code raises": ("assert x.shape[0] > 10**6, 'too small'", Reason.LAUNCH_ERROR),
    "asks for too much": (
        "return run(x, torch.empty(1 << 46, dtype=torch.uint8, device='cuda'))", Reason.OUT_OF_MEMORY,
    ),
    "random": (
        "y = run(x, torch.empty_like(x))\n    entry.calls = getattr(entry, 'calls', 0) + 1\n"
        "    return y if entry.calls % 2 else y + 1",
        Reason.NONDETERMINISTIC,
    ),
    "exits": ("import os\n    os._exit(0)", Reason.CRASH),
}  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), FAULTS.values(), ids=FAULTS)
def test_a_fault_gets_its_own_reason(verdict, body, reason):
    found = verdict(f"def entry(x):\n    x = x.contiguous()\n    {body}\n")
    assert found.status is Status.FAIL
    assert found.reason is reason, found.detail
    assert found.detail
    assert found.visible.passed < found.visible.total


def test_a_kernel_that_knows_only_the_visible_shapes_fails_the_hidden_gate(verdict):
    body = HONEST.replace("x = x.contiguous()", "assert x.numel() in (1 << 14, 1 << 13)\n    x = x.contiguous()")
    found = verdict(body)
    assert (found.status, found.gate, found.reason) == (Status.FAIL, Gate.HIDDEN, Reason.LAUNCH_ERROR)
    assert found.visible.passed == found.visible.total
    assert "assert" in found.location.text


def test_a_hang_is_a_timeout_with_its_line(verdict):
    body = "def entry(x):\n    while True:\n        pass\n"
    sweep = Sweep.model_validate({"deadlines": {"call": 1.5}})
    found = verdict(body, sweep=sweep)
    assert found.reason is Reason.TIMEOUT
    assert found.location.text.strip() in ("while True:", "pass")


@pytest.mark.parametrize("platform", ["cpu", "h100"])
@pytest.mark.parametrize(
    ("preamble", "reason", "word"),
    [
        ("def entry(x:\n", Reason.SYNTAX_ERROR, "never closed"),
        ("import flash_something\n", Reason.IMPORT_ERROR, "flash_something"),
        ("raise RuntimeError('needs 8 GPUs')\n", Reason.IMPORT_ERROR, "needs 8 GPUs"),
        ("def other(x):\n    return x\n", Reason.IMPORT_ERROR, "entry"),
    ],
)
def test_what_does_not_load_says_why(verdict, platform, preamble, reason, word):
    found = verdict("", platform, preamble=preamble)
    assert (found.status, found.gate, found.reason) == (Status.FAIL, Gate.COMPILE, reason)
    assert word in found.detail


def test_framework_kernels_are_what_they_say(verdict):
    found = verdict("def entry(x):\n    return x + 1\n", language="torch", preamble="import torch\n")
    assert (found.status, found.gate) == (Status.PASS, Gate.HIDDEN)
    assert found.toolchain.startswith("torch ")


def test_framework_code_is_not_said_to_build_for_a_chip(verdict):
    found = verdict("def entry(x):\n    return x + 1\n", "mi300", language="torch", preamble="import torch\n")
    assert (found.status, found.reason, found.evidence) == (Status.SKIPPED, Reason.DEVICE_UNAVAILABLE, None)
    found = verdict("def entry(x):\n    assert not torch.version.hip\n    return x + 1\n", "mi300", language="torch",
                    preamble="import torch\n")  # fmt: skip
    assert (found.status, found.reason) == (Status.FAIL, Reason.LAUNCH_ERROR)


class TestCompiled:
    @pytest.mark.parametrize("platform", ["mi300", "h100"])
    def test_an_honest_kernel_builds_and_fits(self, verdict, platform):
        found = verdict(HONEST, platform, sweep=SMALL.model_copy(update={"evidence": Evidence.COMPILED}))
        assert (found.status, found.gate, found.evidence) == (Status.PASS, Gate.COMPILE, Evidence.COMPILED)
        assert found.resources.threads_per_block > 0
        assert found.toolchain.startswith("triton ")
        assert found.hidden.total == 0
        assert found.trials == ()

    def test_a_launch_over_the_limit_names_need_and_limit(self, verdict):
        body = HONEST.replace("empty_like(x))", "empty_like(x), num_warps=32)")
        assert verdict(body, "h100").status is Status.PASS
        found = verdict(body, "mi300")
        assert found.reason is Reason.RESOURCE_EXCEEDED
        assert "2048" in found.detail
        assert "1024" in found.detail

    def test_an_endless_host_loop_is_a_compile_timeout(self, verdict):
        sweep = Sweep.model_validate({"deadlines": {"compile": 2.0}, "cache": False})
        found = verdict("def entry(x):\n    while True:\n        pass\n", "mi300", sweep=sweep)
        assert found.reason is Reason.COMPILE_TIMEOUT

    def test_a_crash_of_the_process_is_a_crash(self, verdict):
        found = verdict("def entry(x):\n    import os\n    os._exit(3)\n", "mi300")
        assert found.reason is Reason.CRASH
        assert "3" in found.detail

    def test_the_second_verdict_comes_from_the_cache(self, verdict, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        sweep = SMALL.model_copy(update={"cache": True, "evidence": Evidence.COMPILED})
        first, second = verdict(HONEST, "mi300", sweep=sweep), verdict(HONEST, "mi300", sweep=sweep)
        assert (first.cached, second.cached) == (False, True)
        assert (first.isolation, second.isolation) == ((), None)  # no process was started for the second
        untimed = {"duration_s": 0.0, "durations": Durations()}
        changes = {"cached": True, "isolation": None, **untimed}
        assert first.model_copy(update=changes) == second.model_copy(update=untimed)

    def test_it_is_known_where_the_time_went(self, verdict):
        compiled = verdict(HONEST, "mi300", sweep=SMALL.model_copy(update={"evidence": Evidence.COMPILED}))
        emulated, refused = verdict(HONEST, "cpu"), verdict("raise SystemExit\n", "cpu")
        assert went(compiled) == {"compile"}
        assert went(emulated) == {"load", "correctness", "hidden"}
        assert went(refused) == {"load"}
        for found in (compiled, emulated, refused):
            assert sum(dict(found.durations).values()) <= found.duration_s + 0.01  # as it is rounded


def went(found: Verdict) -> set[str]:
    return {name for name, seconds in dict(found.durations).items() if seconds}


def test_a_platform_that_nothing_is_known_of_here_is_skipped(judge, kernel):
    nowhere = Platform.model_validate(
        {
            "id": "nowhere",
            "title": "Nowhere One",
            "vendor": "none",
            "backend": "none",
            "arch": "n1",
            "ray": {"resource": "platform:nowhere"},
            "source": {"title": "none"},
        }
    )
    found = judge.judge(kernel("def entry(x): ..."), ADD_ONE, nowhere, SMALL, 1)
    assert (found.status, found.reason) == (Status.SKIPPED, Reason.DEVICE_UNAVAILABLE)
    assert "'none'" in found.detail


@pytest.mark.parametrize("platform", ["h100", "cpu"])
@pytest.mark.parametrize(
    "body",
    [
        "raise SystemExit(0)",
        "error = ValueError('a')\n    error.__cause__ = error\n    raise error",
        "raise type('Odd', (Exception,), {'__str__': lambda self: exit(0)})()",
    ],
    ids=["SystemExit", "its own cause", "no message"],
)
def test_odd_exceptions_are_the_kernels_on_every_path(verdict, platform, body):
    assert verdict(f"def entry(x):\n    {body}\n", platform).reason is Reason.LAUNCH_ERROR


def test_a_forged_account_of_the_call_is_tampering(verdict):
    body = HONEST.replace(
        "    x = x.contiguous()",
        "    from kernelarena.platforms.persona.observer import Observed\n"
        "    Observed.summary = lambda self, outputs=(): {'launches': 'many', 'made': 'up'}\n    x = x.contiguous()",
    )
    found = verdict(body)
    assert (found.status, found.reason) == (Status.FAIL, Reason.JUDGE_TAMPERING)
