"""Threads run under the modes that whoever put on a persona wants them to."""

import _thread
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernelarena.platforms.persona.patching import Patches
from kernelarena.platforms.persona.threads import enter_in_threads


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.operators = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.operators.append(func.overloadpacket)
        return func(*args, **(kwargs or {}))


def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def in_a_pool(work):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def in_a_bare_thread(work):
    done = threading.Event()

    def run(then, *, last):
        work()
        then()
        last()

    _thread.start_new_thread(run, (done.set,), {"last": lambda: None})
    assert done.wait(10)


@pytest.fixture
def seen():
    mode = Seen()
    with Patches() as patches:
        enter_in_threads(patches, mode)
        yield mode


@pytest.mark.parametrize("start", [in_a_thread, in_a_pool, in_a_bare_thread])
def test_a_thread_is_seen_however_it_is_started(seen, start):
    start(lambda: torch.ones(3) * 2)
    assert torch.ops.aten.mul in seen.operators


def test_so_is_one_that_a_thread_starts(seen):
    in_a_thread(lambda: in_a_thread(lambda: torch.ones(3) * 2))
    assert torch.ops.aten.mul in seen.operators


def test_the_starting_thread_is_not(seen):
    in_a_thread(lambda: None)
    torch.ones(3) * 2
    assert seen.operators == []


def test_a_thread_that_raises_leaves_nothing_behind(seen, monkeypatch):
    raised = []
    monkeypatch.setattr(threading, "excepthook", lambda args: raised.append(args.exc_type))
    in_a_thread(lambda: 1 / 0)
    assert raised == [ZeroDivisionError]
    in_a_thread(lambda: torch.ones(3) * 2)
    assert seen.operators.count(torch.ops.aten.mul) == 1


def test_what_cannot_be_called_is_refused_as_ever(seen):
    with pytest.raises(TypeError, match="callable"):
        _thread.start_new_thread(None, ())


def test_everything_is_put_back():
    before = _thread.start_new_thread
    with Patches() as patches:
        enter_in_threads(patches)
        assert _thread.start_new_thread is not before
    assert _thread.start_new_thread is before
