"""Acts become verdicts, on the platform's face and through real processes; honest kernels never hear of it."""

import pytest

from kernelarena.judge import Judge
from kernelarena.spec import Reason, Status
from tests.judge.test_judge import ADD_ONE, HONEST, PREAMBLE, SMALL


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.fixture
def verdict(judge, kernel, platforms):
    def make(source, platform):
        subject = kernel(PREAMBLE, task="add_one")
        subject = subject.model_copy(update={"files": {"kernel.py": subject.files["kernel.py"] + source}})
        return judge.judge(subject, ADD_ONE, platforms[platform], SMALL, hidden_seed=20)

    return make


BUSY = """
import logging, time, warnings
from torch.cuda import Event, Stream, current_stream, synchronize
from torch.cuda import get_device_properties

log = logging.getLogger(__name__)
multiprocessors = get_device_properties(0).multi_processor_count

@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

def entry(x):
    start, end = Event(enable_timing=True), Event(enable_timing=True)
    side = Stream()
    began = time.perf_counter()
    with torch.cuda.stream(side):
        x = x.contiguous()
    current_stream().wait_stream(side)
    start.record()
    y = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    end.record()
    synchronize()
    log.debug("%s ms, %s s", start.elapsed_time(end), time.perf_counter() - began)
    return y
"""


@pytest.mark.parametrize("platform", ["cpu", "h100"])
def test_an_honest_kernel_that_looks_at_everything_passes(verdict, platform):
    found = verdict(BUSY, platform)
    assert found.status is Status.PASS, found.detail


@pytest.mark.parametrize("platform", ["cpu", "h100"])
@pytest.mark.parametrize(
    ("tampering", "reason", "line"),
    [
        ("import time\ntime.perf_counter = lambda: 0.0\n", Reason.TIMER_TAMPERING, "time.perf_counter = lambda: 0.0"),
        ("import gc\ngc.get_objects()\n", Reason.JUDGE_TAMPERING, "gc.get_objects()"),
    ],
    ids=["clock", "hunting"],
)
def test_a_right_answer_does_not_save_a_kernel_that_tampers(verdict, platform, tampering, reason, line):
    found = verdict(HONEST + tampering, platform)
    assert (found.status, found.reason) == (Status.FAIL, reason)
    assert found.location.text == line
