"""Kernels that are compiled for an absent chip and run in its emulator, through the gates that all kernels pass."""

import pytest

from kernelarena.judge import Judge
from kernelarena.spec import Evidence, Gate, Reason, Status
from tests.judge.test_judge import ADD_ONE, HONEST, PREAMBLE, SMALL

SWEEP = SMALL.model_copy(update={"evidence": Evidence.EMULATED, "hidden": SMALL.hidden.model_copy(update={"count": 2})})
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


def test_nobody_gets_it_who_did_not_ask(verdict):
    assert verdict(HONEST, evidence=None).evidence is Evidence.COMPILED
    assert verdict(HONEST, "h100").evidence is Evidence.COMPILED, "there is no emulator of it"


def test_what_does_not_compile_is_not_run(verdict):
    found = verdict("def entry(x):\n    return run(x, torch.empty_like(x), block=100)\n")
    assert (found.status, found.gate, found.reason) == (Status.FAIL, Gate.COMPILE, Reason.COMPILE_ERROR)
    assert found.evidence is Evidence.COMPILED


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


def test_what_the_emulator_does_not_know_is_no_verdict_on_the_kernel(verdict):
    found = verdict(OF_ITS_OWN.format("v_cvt_sr_fp8_f32 $0, $1, $1"))
    assert (found.status, found.reason) == (Status.SKIPPED, Reason.EMULATOR_UNSUPPORTED), found
    assert "v_cvt_sr_fp8_f32" in found.detail


def test_assembly_of_its_own_is_run_like_any(verdict):
    assert verdict(OF_ITS_OWN.format("v_add_f32 $0, 1.0, $1")).status is Status.PASS
    found = verdict(OF_ITS_OWN.format("v_add_f32 $0, 2.0, $1"))
    assert (found.status, found.reason) == (Status.FAIL, Reason.MISMATCH)
