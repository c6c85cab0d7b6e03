"""On a host that has a GPU: verdicts that were measured on it, and those that must not touch it."""

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.platforms.backend import backend_for
from kernelarena.spec import Evidence, Gate, Reason, Status, Sweep
from kernelarena.spec.catalogue import load_tasks, shipped_kernels
from kernelarena.spec.kernels import load_kernels
from tests.judge.test_judge import ADD_ONE, HONEST, PREAMBLE
from tests.shard import shard

pytestmark = pytest.mark.gpu

TASKS = load_tasks()
SHIPPED, _ = load_kernels(shipped_kernels(), tasks=set(TASKS))
SMALL = Sweep.model_validate(
    {"hidden": {"count": 4}, "timing": {"enabled": False}, "deadlines": {"compile": 60, "call": 30}}
)


@pytest.fixture(scope="module")
def device():
    """The platform of the first device of this host."""
    for platform in catalogue.load().values():
        backend = backend_for(platform)
        if backend is not None and backend.present(platform):
            return platform
    return pytest.skip("no backend finds a GPU in this host")


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.fixture
def verdict(judge, kernel, device):
    def make(body, *, sweep=SMALL, language="triton", preamble=PREAMBLE):
        subject = kernel(preamble, task="add_one", language=language)
        subject = subject.model_copy(update={"files": {"kernel.py": subject.files["kernel.py"] + body}})
        return judge.judge(subject, ADD_ONE, device, sweep, hidden_seed=20)

    return make


LOOKED_AT = set(shard(TASKS))


@pytest.mark.parametrize(
    "subject", [kernel for kernel in SHIPPED if kernel.task in LOOKED_AT], ids=lambda kernel: kernel.id
)
def test_a_shipped_kernel_passes_on_the_device(judge, device, subject):
    task = TASKS[subject.task].task
    found = judge.judge(subject, TASKS[subject.task], device, Sweep(), 7)
    assert (found.status, found.evidence, found.gate) == (Status.PASS, Evidence.MEASURED, Gate.HIDDEN), found.detail
    assert found.visible.passed == found.visible.total
    assert found.hidden.passed == found.hidden.total == 8
    assert found.launches or not task.computes
    if not task.timed:
        assert not found.timings
        return
    assert found.timings
    assert all(timed.kernel > 0 and timed.baseline > 0 and timed.samples >= 100 for timed in found.timings)
    assert found.speedup.ci[0] <= found.speedup.median <= found.speedup.ci[1]
    # What we ship can be recorded as a graph; its energy is told wherever the device tells its power.
    told = found.telemetry
    assert told is None or told.power is None or told.energy > 0


SIDE = """
main = torch.cuda.current_stream
side = torch.cuda.Stream()

def on(stream, x, y):
    with torch.cuda.stream(stream):
        return run(x, y)
"""
RIGHT = {
    "as anyone writes it": HONEST,
    "a second stream that is waited for": SIDE
    + "def entry(x):\n    x = x.contiguous()\n    y = torch.empty_like(x)\n    side.wait_stream(main())\n"
    "    on(side, x, y)\n    main().wait_stream(side)\n    return y\n",
    "a wait for the whole device": SIDE
    + "def entry(x):\n    x = x.contiguous()\n    y = torch.empty_like(x)\n    torch.cuda.synchronize()\n"
    "    on(side, x, y)\n    torch.cuda.synchronize()\n    return y\n",
    "a value that host code reads": "def entry(x):\n    x = x.contiguous()\n    y = torch.empty_like(x)\n"
    "    run(x, y)\n    if float(y.flatten()[0]) > 1e30:\n        raise ValueError\n    return y\n",
    "a workspace kept by shape": "kept = {}\ndef entry(x):\n    x = x.contiguous()\n    key = x.shape, x.dtype\n"
    "    room = kept.setdefault(key, torch.empty_like(x))\n    run(x, room)\n    y = torch.empty_like(x)\n"
    "    return run(x, y)\n",
    "memory that nobody uses": "def entry(x):\n    torch.empty(1 << 30, dtype=torch.uint8, device='cuda')\n"
    "    x = x.contiguous()\n    return run(x, torch.empty_like(x))\n",
    "an autotuner": """
@triton.autotune([triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

def entry(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
""",
}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_honest_work_passes(verdict, body):
    found = verdict(body)
    assert (found.status, found.evidence) == (Status.PASS, Evidence.MEASURED), f"{found.reason}: {found.detail}"


OFF = SIDE + "def entry(x):\n    x = x.contiguous()\n    y = torch.empty_like(x)\n"
WRONG = {
    "on the default stream": (
        OFF + "    return on(torch.cuda.default_stream(), x, y)\n",
        Reason.OFF_STREAM_WORK,
    ),
    "on a stream that waits for nothing": (OFF + "    return on(side, x, y)\n", Reason.OFF_STREAM_WORK),
    "on a stream that nobody waits for": (
        OFF + "    side.wait_stream(main())\n    with torch.cuda.stream(side):\n        torch.cuda._sleep(10**7)\n"
        "    return on(side, x, y)\n",
        Reason.OFF_STREAM_WORK,
    ),
    "in a thread, whose current stream is another": (
        "import threading\ndef entry(x):\n    x = x.contiguous()\n    y = torch.empty_like(x)\n"
        "    worker = threading.Thread(target=run, args=(x, y))\n    worker.start()\n    worker.join()\n    return y\n",
        Reason.OFF_STREAM_WORK,
    ),
    "kept by pointer": (
        "kept = {}\ndef entry(x):\n    if x.data_ptr() not in kept:\n        y = torch.empty_like(x)\n"
        "        kept[x.data_ptr()] = run(x.contiguous(), y)\n    return kept[x.data_ptr()]\n",
        Reason.CACHED_RESULT,
    ),
    "a read far past the end": (
        "def entry(x):\n    x = x.contiguous()\n    y = torch.empty_like(x)\n"
        "    add_one[(1 << 16,)](x, y, 1 << 26, BLOCK=1024)\n    return y\n",
        Reason.ILLEGAL_ACCESS,
    ),
    "a write past the end": (
        "@triton.jit\ndef beyond(y_ptr, n):\n    tl.store(y_ptr + n + tl.arange(0, 8), 1.0)\n\n"
        "def entry(x):\n    x = x.contiguous()\n    y = run(x, torch.empty_like(x))\n    beyond[(1,)](y, y.numel())\n"
        "    return y\n",
        Reason.OUT_OF_BOUNDS_WRITE,
    ),
    "a failed assertion on the device": (
        "def entry(x):\n    x = x.contiguous()\n    index = torch.full((1,), x.numel() + 5, device=x.device)\n"
        "    y = run(x, torch.empty_like(x))\n    y.view(-1)[:1] = x.view(-1)[index]\n    return y\n",
        Reason.CRASH,
    ),
    "no end": (
        "@triton.jit\ndef spin(x_ptr, y_ptr):\n    v = tl.load(y_ptr, volatile=True)\n    while v != 12345.0:\n"
        "        v = tl.load(y_ptr, volatile=True)\n    tl.store(y_ptr, v)\n\n"
        "def entry(x):\n    y = torch.zeros_like(x.contiguous())\n    spin[(4096,)](x, y)\n    return y\n",
        Reason.TIMEOUT,
    ),
    "all the memory": (
        "kept = []\ndef entry(x):\n    for _ in range(4096):\n"
        "        kept.append(torch.empty(1 << 30, dtype=torch.uint8, device='cuda'))\n    return x\n",
        Reason.OUT_OF_MEMORY,
    ),
    "the framework's operators": ("def entry(x):\n    return x + 1\n", Reason.FRAMEWORK_FALLBACK),
    "nothing written": ("def entry(x):\n    return run(x.contiguous(), torch.empty_like(x), n=1)\n",
                        Reason.UNWRITTEN_OUTPUT),
}  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_and_the_next_kernel_passes(verdict, body, reason):
    sweep = SMALL.model_copy(update={"deadlines": SMALL.deadlines.model_copy(update={"call": 6.0, "compile": 20.0})})
    found = verdict(body, sweep=sweep if reason is Reason.TIMEOUT else SMALL)
    assert (found.status, found.reason) == (Status.FAIL, reason), found.detail
    assert found.evidence is Evidence.MEASURED
    assert verdict(HONEST).status is Status.PASS


@pytest.mark.parametrize("platform", ["mi300", "h100", "cpu"])
def test_a_shipped_kernel_passes_beside_a_real_device(judge, platforms, device, platform):
    subject = next(kernel for kernel in SHIPPED if kernel.task == "softmax")
    found = judge.judge(subject, TASKS["softmax"], platforms[platform], Sweep(cache=False), 7)
    assert found.status is Status.PASS, found.detail
    here = platform == device.id
    assert found.evidence is (
        Evidence.MEASURED if here else Evidence.COMPILED if platform == "h100" else Evidence.EMULATED
    )


@pytest.mark.parametrize("platform", ["mi300", "h100"])
def test_the_persona_answers_and_not_the_device(judge, kernel, platforms, device, platform):
    """The kernel raises what it is told of its device, so that the answer shows in the verdict."""
    source = """
    import torch, triton

    def entry(x):
        properties = torch.cuda.get_device_properties(0)
        target = triton.runtime.driver.active.get_current_target()
        raise ValueError(f"{properties.name} | {target.arch} | {x.device}")
    """
    found = judge.judge(kernel(source), TASKS["softmax"], platforms[platform], Sweep(cache=False), 7)
    assert platforms[platform].title.split(" (")[0].split()[2] in found.detail
    assert "cuda:0" in found.detail
