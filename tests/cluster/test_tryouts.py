"""A task whose own code does harm is found out before anything is judged, and named."""

from __future__ import annotations

import re
import time

import pytest

from kernelarena.cluster import tryouts as module
from kernelarena.cluster.cell import Cell
from kernelarena.cluster.tryouts import Tryouts
from kernelarena.errors import InfraError, InputError
from kernelarena.spec import Sweep
from kernelarena.spec.catalogue import load_tasks
from tests.cluster import samples
from tests.processes import gone

INPUTS = "def inputs(shape, rng):\n    return {'x': rng.tensor(shape['M'], shape['N'])}\n"
SOUND = "def reference(x):\n    return x.softmax(-1)\n"


def cells(**references):
    """Return a cell for each task, given as its id and its own code."""
    found = []
    for name, text in references.items():
        task = samples.task().task.model_copy(update={"id": name})
        source = samples.task().model_copy(update={"task": task, "reference": text, "origin": f"lab/{name}"})
        found.append(Cell(samples.kernel("k"), source, samples.platform("cpu")))
    return found


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 1.0)


def wrong(*, keep_going=True, **references):
    config = Sweep.model_validate({"deadlines": {"call": 1.0}, "keep_going": keep_going})
    with Tryouts(cells(**references), config) as tryouts:
        return tryouts.broken()


def test_the_shipped_tasks_work():
    one = [Cell(samples.kernel("k"), source, samples.platform("cpu")) for source in load_tasks().values()]
    with Tryouts(one, Sweep()) as tryouts:
        assert tryouts.broken() == {}


def test_what_a_task_does_is_said_and_the_others_are_tried_all_the_same(impatient):
    found = wrong(
        loops=INPUTS + "def reference(x):\n    while x.dtype.itemsize == 2:\n        pass\n    return x\n",
        leaves=INPUTS + "import os\ndef reference(x):\n    return x if x.shape[1] > 16 else os._exit(0)\n",
        crashes="import ctypes\ndef inputs(shape, rng):\n    ctypes.string_at(8)\n" + SOUND,
        raises=INPUTS + "def reference(x):\n    return x.no_such_method()\n",
        loads_not="import absent_module\n" + INPUTS + SOUND,
        works=INPUTS + SOUND,
    )
    assert list(found) == ["loops", "leaves", "crashes", "raises", "loads_not"]
    where = r"lab/loops/reference.py:[45]: reference\(\) for M=\d+ N=\d+ float16: the task's own code "
    assert _matches(where + "did not finish within 1 s", found["loops"])
    assert _matches(r".*reference\(\) for M=32 N=16 float32: .* ended the process with exit code 0", found["leaves"])
    assert _matches(r"lab/crashes/reference.py:3: inputs\(\) for .*: .* crashed \(SIGSEGV\)", found["crashes"])
    assert "AttributeError" in found["raises"]
    assert "cannot be loaded: ModuleNotFoundError" in found["loads_not"]


def _matches(pattern, text):
    assert re.fullmatch(pattern, text), text
    return True


def test_what_only_the_hosts_processor_lacks_is_left_to_the_judge():
    assert wrong(half=INPUTS + "def reference(x):\n    raise NotImplementedError('not for Half')\n") == {}


def test_one_that_ends_the_process_which_tries_it_costs_no_traceback(impatient):
    found = wrong(kills=INPUTS + "import os\nos.kill(os.getppid(), 9)\n" + SOUND, works=INPUTS + SOUND)
    assert "took the process that runs it down with it" in found["kills"]
    assert "could not be run" in found["works"]


def test_a_broken_task_is_the_users_mistake_unless_the_run_is_to_keep_going():
    with pytest.raises(InputError, match="ended the process with exit code 3"):
        wrong(leaves="import os\nos._exit(3)\n" + INPUTS + SOUND, keep_going=False)


def test_leaving_early_waits_for_nobody(tmp_path):
    note = tmp_path / "pid"
    source = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    with Tryouts(cells(sleeps=source + INPUTS + SOUND), Sweep()):
        while not (note.exists() and note.read_text()):
            time.sleep(0.02)
    assert gone(int(note.read_text()))


def test_what_tries_tasks_may_not_start():
    tryouts = Tryouts(cells(works=INPUTS + SOUND), Sweep(), "tests.cluster.no_such_module:run")
    with tryouts, pytest.raises(InfraError, match="did not start"):
        tryouts.broken()
