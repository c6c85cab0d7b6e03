"""On a host that has a GPU and its compiler: kernels in C++ that were measured on it."""

import pytest

from kernelarena.judge.cpp import buildable
from kernelarena.spec import Evidence, Gate, Kernel, Reason, Status, Sweep
from tests.judge.test_cpp import HONEST
from tests.judge.test_cpp_extension import BUILDER, SOURCE
from tests.judge.test_gpu import ADD_ONE, SMALL, device, judge

__all__ = ["device", "judge"]
pytestmark = pytest.mark.gpu
ADD = "ka_load(x[i / columns * row + i % columns * column]) + 1.0f"
STRIDED = (
    HONEST.replace("y, int64_t n)", "y, int64_t n, int64_t columns, int64_t row, int64_t column)")
    .replace("ka_load(x[i]) + 1.0f", ADD)
    .replace("->data, n);", "->data, n, x->size[1], x->stride[0], x->stride[1]);")
)
FORMS = {
    "plain": (STRIDED, "kernel.hip", "entry", "hip"),
    "module": (SOURCE, "kernel.cu", "forward", "cuda"),
    "python": (BUILDER, "kernel.py", "ModelNew", "cuda"),
}


@pytest.fixture
def measured(judge, device):
    def make(source, file, function, language, sweep=SMALL):
        kernel = Kernel(
            id="in-cpp", task="add_one", language=language, file=file, function=function, files={file: source},
            origin="a test",
        )  # fmt: skip
        if not buildable(kernel, device):
            pytest.skip(f"no compiler of {language} for {device.id}")
        found = judge.judge(kernel, ADD_ONE, device, sweep, hidden_seed=20)
        assert found.evidence is Evidence.MEASURED
        return found

    return make


@pytest.mark.parametrize("form", FORMS)
def test_an_honest_kernel_passes(measured, form):
    found = measured(*FORMS[form])
    assert (found.status, found.gate) == (Status.PASS, Gate.HIDDEN), found.detail
    assert found.visible.passed == found.visible.total
    assert found.launches


def test_it_is_timed(measured):
    found = measured(*FORMS["plain"], sweep=Sweep.model_validate({"hidden": {"count": 2}}))
    assert found.status is Status.PASS, found.detail
    assert all(timed.kernel > 0 and timed.baseline > 0 for timed in found.timings)
    assert found.timings


@pytest.mark.parametrize(
    ("edit", "reasons"),
    [
        pytest.param((ADD, "ka_load(x[i]) + 2.0f"), {Reason.MISMATCH}, id="wrong"),
        pytest.param(("if (i < n)", "if (i < n - 1)"), {Reason.UNWRITTEN_OUTPUT}, id="unwritten"),
        pytest.param(("return hipGetLastError", "return 7 + hipGetLastError"), {Reason.LAUNCH_ERROR}, id="error"),
        pytest.param(
            ("hipStream_t stream = (hipStream_t)given;", "hipStream_t stream = 0; (void)given;"),
            {Reason.OFF_STREAM_WORK, Reason.UNWRITTEN_OUTPUT, Reason.MISMATCH},
            id="another-stream",
        ),
    ],
)
def test_a_fault_is_found(measured, edit, reasons):
    source, *form = FORMS["plain"]
    assert edit[0] in source
    found = measured(source.replace(*edit, 1), *form)
    assert found.status is Status.FAIL
    assert found.reason in reasons, found.detail
