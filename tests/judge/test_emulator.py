"""Kernels that are compiled for an absent chip and run in its emulator, through the gates that all kernels pass."""

import pytest

from kernelarena.judge import Judge
from kernelarena.spec import Deadlines, Evidence, Gate, Reason, Status
from tests.judge.test_judge import ADD_ONE, HONEST, PREAMBLE, SMALL

SWEEP = SMALL.model_copy(update={"hidden": SMALL.hidden.model_copy(update={"count": 2})})
OF_ITS_OWN = """
@triton.jit
def with_assembly(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    x = tl.inline_asm_elementwise("{}", "=v,v", [x], dtype=tl.float32, is_pure=False, pack=1)
    tl.store(y_ptr + i, x.to(y_ptr.dtype.element_ty), mask=i < n)

def entry(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    with_assembly[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
"""


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.fixture
def verdict(judge, kernel, platforms):
    def make(body, platform="mi300", **changes):
        subject = kernel(PREAMBLE, task="add_one")
        subject = subject.model_copy(update={"files": {"kernel.py": subject.files["kernel.py"] + body}})
        return judge.judge(subject, ADD_ONE, platforms[platform], SWEEP.model_copy(update=changes), hidden_seed=20)

    return make


@pytest.mark.parametrize("platform", ["mi250", "mi300", "mi355"])
def test_an_honest_kernel_passes_every_gate(verdict, platform):
    found = verdict(HONEST, platform)
    assert (found.status, found.gate, found.evidence) == (Status.PASS, Gate.HIDDEN, Evidence.EMULATED), found
    assert (found.visible.passed, found.hidden.passed) == (found.visible.total, 2)
    assert found.toolchain.endswith("in the emulator")
    assert found.resources.registers, "what the compile gate found is kept"


def test_weaker_evidence_is_given_where_it_is_sought_or_there_is_no_emulator(verdict):
    assert verdict(HONEST, evidence=Evidence.COMPILED).evidence is Evidence.COMPILED
    assert verdict(HONEST, "h100").evidence is Evidence.COMPILED
    assert verdict(HONEST, "h100", evidence=Evidence.EMULATED).evidence is Evidence.COMPILED


def test_what_does_not_compile_is_not_run(verdict):
    found = verdict("def entry(x):\n    return run(x, torch.empty_like(x), block=100)\n")
    assert (found.status, found.gate, found.reason) == (Status.FAIL, Gate.COMPILE, Reason.COMPILE_ERROR)
    assert found.evidence is Evidence.EMULATED, "it counts among those that were to be emulated"
    assert (found.visible.passed, found.trials) == (0, ())
    assert found.visible.total


FAULTS = {
    "wrong": ("return run(run(x, torch.empty_like(x)), torch.empty_like(x))", Reason.MISMATCH),
    "half written": ("return run(x, torch.empty_like(x), n=x.numel() // 2)", Reason.UNWRITTEN_OUTPUT),
    "by the framework": ("return x + 1", Reason.FRAMEWORK_FALLBACK),
    "past the end": ("return run(x, torch.empty_like(x), n=x.numel() + 1)", Reason.ILLEGAL_ACCESS),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_have_the_reason_that_they_have_elsewhere(verdict, fault):
    body, reason = FAULTS[fault]
    found = verdict(f"def entry(x):\n    x = x.contiguous()\n    {body}\n")
    assert (found.status, found.reason) == (Status.FAIL, reason), found


def test_an_access_outside_is_pointed_at(verdict):
    """One element past the end, which no chip would notice: memory is mapped by the page."""
    found = verdict("def entry(x):\n    x = x.contiguous()\n    return run(x, torch.empty_like(x), n=x.numel() + 1)\n")
    assert found.evidence is Evidence.EMULATED
    assert "tl.load" in found.location.text
    assert all(word in found.detail for word in ("illegal-read", "of x_ptr, float32[", "load_dword", " lane "))


UNKNOWN = OF_ITS_OWN.format("v_cvt_sr_fp8_f32 $0, $1, $1")


def test_what_the_emulator_does_not_know_is_as_good_as_compiled(verdict):
    found = verdict(UNKNOWN)
    assert (found.status, found.gate, found.evidence) == (Status.PASS, Gate.COMPILE, Evidence.COMPILED), found
    assert (found.trials, found.hidden.total) == ((), 0)
    (note,) = found.notes
    assert note.startswith("compiled and not run")
    assert "v_cvt_sr_fp8_f32" in note


@pytest.mark.parametrize("named", ["evidence", "require"])
def test_whoever_asks_for_emulation_by_name_gets_nothing_less(verdict, named):
    found = verdict(UNKNOWN, **{named: Evidence.EMULATED})
    assert (found.status, found.reason) == (Status.SKIPPED, Reason.EMULATOR_UNSUPPORTED), found
    assert "v_cvt_sr_fp8_f32" in found.detail


@pytest.mark.parametrize("wrong", ["float32", "float16"])
def test_a_wrong_answer_goes_before_what_cannot_be_run(verdict, wrong):
    """Whichever of the two comes first."""
    choice = f"""
def entry(x):
    x = x.contiguous()
    if x.dtype == torch.{wrong}:
        return run(run(x, torch.empty_like(x)), torch.empty_like(x))
    return unknown(x)
"""
    found = verdict(UNKNOWN.replace("def entry", "def unknown") + choice)
    assert (found.status, found.gate, found.reason) == (Status.FAIL, Gate.CORRECTNESS, Reason.MISMATCH), found
    assert wrong in found.detail


SLOW = """
@triton.jit
def slow(x_ptr, y_ptr, n, STEPS: tl.constexpr):
    total = 0
    for step in range(STEPS):
        total += tl.load(x_ptr + step % n).to(tl.int32)
    tl.store(y_ptr + tl.program_id(0) % n, total)

def entry(x):
    y = torch.empty_like(x)
    slow[(1 << 20,)](x.contiguous(), y, x.numel(), STEPS=10_000)
    return y
"""
IMPATIENT = Deadlines(compile=60, call=4)


def test_what_is_slow_in_the_emulator_is_as_good_as_compiled(verdict):
    """It would take hours, and no wave of it runs long enough to be called endless."""
    found = verdict(SLOW, deadlines=IMPATIENT)
    assert (found.status, found.gate, found.evidence) == (Status.PASS, Gate.COMPILE, Evidence.COMPILED), found
    assert found.notes[-1].startswith("compiled and not run to the end")
    found = verdict(SLOW, deadlines=IMPATIENT, evidence=Evidence.EMULATED)
    assert (found.status, found.reason, found.evidence) == (Status.FAIL, Reason.TIMEOUT, Evidence.EMULATED), found


def test_host_code_that_hangs_is_not_excused(verdict):
    body = "def entry(x):\n    while x.flatten()[0].item() != 0:\n        pass\n"
    found = verdict(f"{body}    return run(x.contiguous(), torch.empty_like(x))\n", deadlines=IMPATIENT)
    assert (found.status, found.reason, found.evidence) == (Status.FAIL, Reason.TIMEOUT, Evidence.EMULATED), found


def test_an_emulator_that_does_not_open_is_no_fault_of_the_kernel(verdict):
    found = verdict(HONEST, deadlines=Deadlines(compile=60, call=1e-9))
    assert (found.status, found.reason) == (Status.INFRA, Reason.WORKER_LOST), found


def test_assembly_of_its_own_is_run_like_any(verdict):
    assert verdict(OF_ITS_OWN.format("v_add_f32 $0, 1.0, $1")).status is Status.PASS
    found = verdict(OF_ITS_OWN.format("v_add_f32 $0, 2.0, $1"))
    assert (found.status, found.reason) == (Status.FAIL, Reason.MISMATCH)
