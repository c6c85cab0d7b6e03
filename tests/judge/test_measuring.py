"""Measured verdicts, on a device that a backend of another distribution brings (the host's processor itself)."""

import os
import sys
import textwrap
import threading
from contextlib import closing
from pathlib import Path

import pytest
import torch

from kernelarena.errors import InputError
from kernelarena.judge import Judge
from kernelarena.judge.abilities import computes
from kernelarena.judge.copying import CopyExchange
from kernelarena.judge.measuring import Bench
from kernelarena.judge.turns import Turns
from kernelarena.platforms import backend as backend_module
from kernelarena.spec import Evidence, Gate, Platform, Reason, Status, Sweep
from tests.judge.test_judge import ADD_ONE

PLUGIN = Path(__file__).resolve().parent / "plugin"
sys.path.append(str(PLUGIN))  # where its distribution is installed; for nobody but this module

from host_backend import MARK, REFUSE, REFUSE_OTHERS, HostDevice  # noqa: E402

sys.path.remove(str(PLUGIN))

SWEEP = Sweep.model_validate(
    {"hidden": {"count": 2}, "timing": {"enabled": False}, "deadlines": {"call": 20}, "cache": False}
)
PLATFORM = Platform.model_validate(
    {
        "id": "host",
        "title": "Host processor",
        "vendor": "anyone",
        "backend": "host",
        "arch": "host",
        "detect": {"names": ["Host"]},
        "ray": {"resource": "platform:host"},
        "source": {"title": "a test"},
    }
)


@pytest.fixture(scope="module")
def installed():
    """A distribution on the import path, of this process and of those that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{PLUGIN}:{PLUGIN.parents[2]}")
        patch.syspath_prepend(str(PLUGIN))
        backend_module._backend.cache_clear()
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # as in a worker; on a busy machine several wait for each other
        yield
        torch.set_num_threads(threads)
    backend_module._backend.cache_clear()


@pytest.fixture(scope="module")
def judge(installed):
    with Judge() as judge:
        yield judge


@pytest.fixture
def verdict(judge, kernel):
    def make(source, **changes):
        subject = kernel(textwrap.dedent(source), task="add_one", language="torch")
        return judge.judge(subject, ADD_ONE, PLATFORM, SWEEP.model_copy(update=changes), hidden_seed=5)

    return make


def test_a_right_kernel_passes_both_gates_and_was_measured(verdict):
    found = verdict("def entry(x):\n    return x + 1\n")
    assert (found.status, found.evidence, found.gate) == (Status.PASS, Evidence.MEASURED, Gate.HIDDEN), found.detail
    assert found.visible.passed == found.visible.total > 0
    assert (found.hidden.passed, found.hidden.total) == (2, 2)
    assert found.toolchain.startswith("torch ")
    assert found.speedup is None


def test_visible_shapes_are_the_published_ones_in_full(verdict):
    found = verdict("def entry(x):\n    return x + 1\n")
    sizes = {tuple(trial.shape.dims.values()) for trial in found.trials if trial.shape.family.value == "visible"}
    assert sizes == {(16, 1024), (64, 128)}


def test_the_process_is_shown_its_own_device(verdict):
    found = verdict(f"import os\n\n\ndef entry(x):\n    raise ValueError('shown ' + os.environ['{MARK}'])\n")
    assert found.reason is Reason.LAUNCH_ERROR
    assert "shown 0" in found.detail


WRONG = {
    "a wrong value": ("def entry(x):\n    return x + 2\n", Reason.MISMATCH),
    "a shape too few": ("def entry(x):\n    return (x + 1)[:-1]\n", Reason.WRONG_SHAPE),
    "an input written to": ("def entry(x):\n    return x.add_(1)\n", Reason.INPUT_MUTATED),
    "an answer that is kept": (
        "kept = {}\n\n\ndef entry(x):\n    key = x.shape, x.dtype\n    if key not in kept:\n        kept[key] = x + 1\n"
        "    return kept[key].clone()\n",
        Reason.CACHED_RESULT,
    ),
    "a fault that the runtime reports": (
        "def entry(x):\n    raise RuntimeError('error: an illegal memory access was encountered')\n",
        Reason.ILLEGAL_ACCESS,
    ),
    "a failed assertion on the device": (
        "def entry(x):\n    raise RuntimeError('error: device-side assert triggered')\n",
        Reason.CRASH,
    ),
    "its end": ("import os\n\n\ndef entry(x):\n    os._exit(0)\n", Reason.CRASH),
    "no memory": ("import torch\n\n\ndef entry(x):\n    raise torch.OutOfMemoryError('tried')\n", Reason.OUT_OF_MEMORY),
    "no module": ("import no_such_module\n", Reason.IMPORT_ERROR),
}


@pytest.mark.parametrize(("source", "reason"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_and_the_next_kernel_is_judged_alike(verdict, source, reason):
    found = verdict(source)
    assert (found.status, found.reason) == (Status.FAIL, reason), found.detail
    assert found.evidence is Evidence.MEASURED
    assert verdict("def entry(x):\n    return x + 1\n", calls=1).status is Status.PASS


def test_after_a_fault_of_the_device_no_further_shape_is_tried(verdict):
    found = verdict("def entry(x):\n    raise RuntimeError('error: an illegal memory access was encountered')\n")
    assert len(found.trials) == 1
    assert found.visible.total > 1


def test_a_device_on_which_nothing_is_right_is_infrastructure(judge, kernel, monkeypatch):
    """The judge's own copy of the device adds what is not there: every truth is wrong, that of the probe too."""
    bench = judge._bench(PLATFORM, 1)
    bench.suspect = True
    monkeypatch.setattr(bench, "probe", bench.probe.model_copy(update={"files": {"kernel.py": "entry = abs\n"}}))
    subject = kernel("def entry(x):\n    return x + 1\n", task="add_one", language="torch")
    found = judge.judge(subject, ADD_ONE, PLATFORM, SWEEP, 5)
    assert (found.status, found.reason) == (Status.INFRA, Reason.DEVICE_UNHEALTHY)
    assert "a kernel that is known to be right fails" in found.detail
    monkeypatch.undo()
    assert judge.judge(subject, ADD_ONE, PLATFORM, SWEEP, 5).status is Status.PASS


@pytest.mark.parametrize("reason", [Reason.ILLEGAL_ACCESS, Reason.MISMATCH])
def test_a_device_must_prove_itself_after_a_fault_and_only_then(judge, verdict, reason):
    word = "an illegal memory access" if reason is Reason.ILLEGAL_ACCESS else "nothing"
    verdict(f"def entry(x):\n    if '{word}' == 'nothing':\n        return x\n    raise RuntimeError('{word}')\n")
    assert judge._bench(PLATFORM, 1).suspect is (reason is Reason.ILLEGAL_ACCESS)


@pytest.mark.parametrize("who", [REFUSE, REFUSE_OTHERS])
def test_a_device_that_cannot_be_opened_is_infrastructure(installed, kernel, monkeypatch, who):
    """By the judge, or in the process that a kernel would run in."""
    monkeypatch.setenv(who, "1")
    subject = kernel("def entry(x):\n    return x + 1\n", task="add_one", language="torch")
    with Judge() as judge:
        found = judge.judge(subject, ADD_ONE, PLATFORM, SWEEP, 5)
    assert (found.status, found.reason) == (Status.INFRA, Reason.DEVICE_UNHEALTHY)
    assert "no such device any more" in found.detail


class Emptied(HostDevice):
    """A device on which the judge gets nothing until the kernel's process has ended."""

    def __init__(self, returned):
        self.readings = [0, returned]

    def memory(self):
        return (self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]), self.total


@pytest.mark.parametrize(("returned", "held"), [(48 << 30, True), (1 << 20, False)])
def test_whoever_holds_the_memory_is_blamed_for_it(installed, monkeypatch, returned, held):
    monkeypatch.setattr("kernelarena.judge.measuring._RETURN_SECONDS", 0.2)
    bench = Bench(PLATFORM)
    monkeypatch.setattr(bench, "_device", Emptied(returned))
    before = bench.free()
    if held:
        found = bench._without_memory(before)
        assert (found["status"], found["reason"]) == (Status.FAIL, Reason.OUT_OF_MEMORY)
        assert "49152 MiB" in found["detail"]
    else:
        with pytest.raises(Exception, match="the kernel does not hold it"):
            bench._without_memory(before)


class Lost(HostDevice):
    """A device on which nothing is computed any more."""

    device = torch.device("meta")


RAISED = {
    "by a plug-in": RuntimeError("the runtime is gone"),
    "within a reference": InputError("reference.py:3: reference() fails on its own inputs: RuntimeError: it is gone"),
}


@pytest.mark.parametrize("error", RAISED.values(), ids=RAISED)
def test_whether_a_device_is_lost_is_asked_of_the_device(installed, kernel, monkeypatch, error):
    """And not of what is raised: that depends on the runtime, and a task's own mistake looks alike."""
    subject = kernel("def entry(x):\n    return x + 1\n", task="add_one", language="torch")
    with Judge() as judge:
        assert judge.judge(subject, ADD_ONE, PLATFORM, SWEEP, 5).status is Status.PASS
        bench = judge._bench(PLATFORM, 1)
        with monkeypatch.context() as patch:
            patch.setattr(bench.venue.problems, "problem", raising(error))
            with pytest.raises(type(error), match="gone"):
                judge.judge(subject, ADD_ONE, PLATFORM, SWEEP, 5)
            patch.setattr(bench, "_device", Lost())
            first = judge.judge(subject, ADD_ONE, PLATFORM, SWEEP, 5)
        again = judge.judge(subject, ADD_ONE, PLATFORM, SWEEP, 5)
    for found in (first, again):
        assert (found.status, found.reason) == (Status.INFRA, Reason.DEVICE_UNHEALTHY)
        assert "the judge's own work on the device failed" in found.detail


def raising(error):
    def raises(*_):
        raise error

    return raises


def test_a_reference_without_memory_on_the_device_is_not_the_tasks_mistake(installed, kernel, monkeypatch):
    """Nor is it computed more coarsely: whoever holds the memory is looked for."""
    monkeypatch.setattr("kernelarena.judge.measuring._RETURN_SECONDS", 0.1)
    text = ADD_ONE.reference.replace("return x + 1", "import torch\n    raise torch.OutOfMemoryError('full')")
    greedy = ADD_ONE.model_copy(update={"reference": text})
    subject = kernel("def entry(x):\n    return x + 1\n", task="add_one", language="torch")
    with Judge() as judge:
        found = judge.judge(subject, greedy, PLATFORM, SWEEP, 5)
    assert (found.status, found.reason) == (Status.INFRA, Reason.DEVICE_UNHEALTHY)
    assert "got no memory on the device" in found.detail


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_device_is_asked_to_compute(dtype):
    assert computes(torch.device("cpu"), dtype)
    assert not computes(torch.device("meta"), dtype)


def test_a_framework_that_quietly_takes_a_narrower_type_has_not_the_one_asked_for(monkeypatch):
    ones = torch.ones
    monkeypatch.setattr(torch, "ones", lambda *size, dtype, device: ones(*size, dtype=torch.float32, device=device))
    assert computes(torch.device("cpu"))
    assert not computes(torch.device("cpu"), torch.float64)


def test_bytes_are_carried_across_where_memory_cannot_be_shared():
    exchange = CopyExchange(torch.device("cpu"))
    ours = exchange.allocate(100)
    ours.bytes.copy_(torch.arange(ours.bytes.numel(), dtype=torch.int64).to(torch.uint8))
    ours.publish()
    theirs = exchange.attach(os.dup(ours.descriptor), ())
    theirs.fetch()
    assert torch.equal(theirs.bytes, ours.bytes)
    theirs.bytes.fill_(7)
    assert not torch.equal(theirs.bytes, ours.bytes)
    theirs.publish()
    ours.fetch()
    assert ours.bytes.unique().tolist() == [7]
    ours.close()


def test_judges_that_share_a_device_share_its_memory(installed):
    whole, half = Bench(PLATFORM), Bench(PLATFORM, 2)
    assert half.total == whole.total // 2
    for bench in (whole, half):
        bench.close()


def test_a_judge_waits_until_whoever_is_timed_on_its_device_is_done(judge, kernel):
    subject = kernel("def entry(x):\n    return x + 1\n", task="add_one", language="torch")
    bench = judge._bench(PLATFORM, 1)
    found = []
    other = Turns("host-0")
    with closing(other), other.together():
        with other.alone():
            waiting = threading.Thread(target=lambda: found.append(judge.judge(subject, ADD_ONE, PLATFORM, SWEEP, 5)))
            waiting.start()
            waiting.join(0.3)
            assert not found
        waiting.join(60)
    assert found[0].status is Status.PASS
    assert bench is judge._bench(PLATFORM, 1)
