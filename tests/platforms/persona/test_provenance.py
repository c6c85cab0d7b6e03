"""Whatever host code does to memory behind the observer's back is known when that memory is next used."""

import ctypes
import itertools
import threading

import numpy as np
import pytest
import torch

from kernelarena.platforms.persona.ledger import Ledger
from kernelarena.platforms.persona.observer import Observer
from kernelarena.platforms.persona.provenance import Provenance
from kernelarena.platforms.persona.traffic import Traffic

ROWS = 600
"""Of a tensor that is no small table."""


class Emulated:
    """A call under an observer, with launches of kernels that are written in NumPy."""

    def __init__(self):
        self.ledger = Ledger()
        self.observer = Observer(self.ledger, real=True, provenance=Provenance(self.ledger))

    def given(self, tensor):
        self.ledger.enter(tensor, device=True, argument=True)
        return tensor

    def launch(self, kernel, *tensors, kept=()):
        """Run ``kernel`` on the memory of tensors: it loads all of them, and stores to those that are not ``kept``."""
        traffic = Traffic(tensors)
        with self.observer.interpreting(tensors, "kernel", traffic):
            for tensor in tensors:
                pointers = np.array([tensor.data_ptr() + 4 * i for i in range(tensor.numel())], dtype=np.uint64)
                everywhere = np.ones(pointers.shape, dtype=bool)
                traffic.load(pointers, everywhere, 4)
                if not any(tensor is one for one in kept):
                    traffic.store(pointers, everywhere)
            kernel(*[array_over(tensor) for tensor in tensors])


def array_over(tensor):
    """Return an array over a tensor's memory, as host code gets one that no operator makes."""
    memory = (ctypes.c_float * tensor.numel()).from_address(tensor.data_ptr())
    return np.frombuffer(memory, dtype=np.float32)


def double(x, y):
    y[:] = 2 * x


_CALLS = itertools.count()


@pytest.fixture
def derived():
    """Returns whether the output of a call can have come out of a kernel."""

    def run(body, before=lambda emulated: None):
        emulated = Emulated()
        with emulated.observer:
            kept = before(emulated)
            # Other numbers each time: memory that is handed out anew may still hold the answer of the test before.
            x = emulated.given(torch.arange(float(ROWS)) + 1000.0 * next(_CALLS))
            with emulated.observer.call([x]) as observed:
                output = body(emulated, x, *([] if kept is None else [kept]))
            return observed.summary([output])["derived"] == [True]

    return run


def computed(emulated, x):
    y = torch.empty_like(x)
    emulated.launch(double, x, y, kept=[x])
    return y


def test_what_a_launch_left_is_a_kernels(derived):
    assert derived(computed)


@pytest.mark.parametrize(
    "body",
    [
        lambda e, x: computed(e, x).clone(),
        lambda e, x: computed(e, x).view(2, -1).t().contiguous(),
        lambda e, x: torch.cat([computed(e, x)[:300], computed(e, x)[300:]]),
        lambda e, x: torch.empty_like(x).copy_(computed(e, x)),
        lambda e, x: computed(e, computed(e, x.clone())),
    ],
    ids=["copied", "laid out anew", "put together", "copied over", "by two launches"],
)
def test_copies_and_views_of_it_are_too(derived, body):
    assert derived(body)


def moved(e, x):
    y = computed(e, x)
    answer = torch.arange(float(ROWS)) * 3
    ctypes.memmove(y.data_ptr(), answer.data_ptr(), 4 * ROWS)
    return y


def by_a_thread(e, x):
    y = computed(e, x)
    thread = threading.Thread(target=lambda: array_over(y).__setitem__(slice(None), array_over(x) * 3))
    thread.start()
    thread.join()
    return y


def one_element(e, x):
    y = computed(e, x)
    array_over(y)[7] = 21
    return y


def while_it_runs(e, x):
    y, z = torch.empty_like(x), torch.empty_like(x)
    e.launch(lambda x_, z_, y_: (double(x_, z_), y_.__setitem__(slice(None), x_ * 3)), x, z, y, kept=[x, y])
    return y


@pytest.mark.parametrize("body", [moved, by_a_thread, one_element, while_it_runs])
def test_what_is_written_over_it_is_not(derived, body):
    assert not derived(body)


def test_but_the_framework_may_write_over_a_part_and_is_accounted_for(derived):
    def body(e, x):
        y = computed(e, x)
        y[:3].fill_(0.0)
        y[3:6].copy_(x[3:6])
        return y

    assert derived(body)


@pytest.mark.parametrize(
    "make",
    [
        lambda values: torch.from_numpy(values),
        lambda values: torch.tensor(values.tolist()),
        lambda values: torch.frombuffer(bytearray(values.tobytes()), dtype=torch.float32),
        lambda values: torch.from_numpy(values).clone(),
        lambda values: torch.empty(ROWS).copy_(torch.from_numpy(values)),
        lambda values: torch.cat([torch.from_numpy(values[:300]), torch.from_numpy(values[300:])]),
        lambda values: torch.from_numpy(values.astype(np.float64)).float(),
    ],
    ids=["from an array", "from a list", "over a buffer", "cloned", "copied", "put together", "cast"],
)
def test_a_launch_that_reads_what_host_code_made_computes_nothing(derived, make):
    def body(e, x):
        return computed(e, make(array_over(x) * 3))

    assert not derived(body)


def test_nor_one_that_reads_an_input_which_host_code_wrote_over(derived):
    def body(e, x):
        array_over(x)[:] *= 1.5
        y = computed(e, x)
        array_over(x)[:] /= 1.5
        return y

    assert not derived(body)


def test_a_table_that_was_made_before_the_call_is_no_answer(derived):
    def body(e, x, table):
        return computed(e, table.clone())

    assert derived(body, before=lambda e: torch.from_numpy(np.arange(ROWS, dtype=np.float32)))
    assert derived(body, before=lambda e: torch.tensor(np.arange(ROWS, dtype=np.float32).tolist()))


def test_unless_it_is_written_over_within_the_call(derived):
    def body(e, x, table):
        array_over(table)[:] = array_over(x)
        return computed(e, table)

    table = np.arange(ROWS, dtype=np.float32) + 1
    assert not derived(lambda e, x, t: body(e, x, (t.clone(), t)[1]), before=lambda e: torch.from_numpy(table))


def test_small_tables_may_be_made_in_the_call(derived):
    def body(e, x):
        table = torch.tensor([float(step) for step in range(64)])
        y = torch.empty_like(x)
        e.launch(lambda x_, t, y_: double(x_, y_), x, table, y, kept=[x, table])
        return y

    assert derived(body)


def test_they_do_not_become_larger_by_being_used_often(derived):
    def body(e, x):
        table = torch.tensor([float(step) for step in range(100)])
        y = computed(e, x)
        for _ in range(8):
            y[:100].add_(table)
        return y

    assert derived(body)


def test_nor_do_large_ones_become_small_by_being_copied_piecemeal(derived):
    def body(e, x):
        between = torch.empty_like(x)
        for start in range(0, ROWS, 100):
            between[start : start + 100].copy_(torch.tensor((array_over(x)[start : start + 100] * 3).tolist()))
        return computed(e, between)

    assert not derived(body)


def test_constants_are_no_answer(derived):
    assert derived(lambda e, x: computed(e, torch.from_numpy(np.zeros(ROWS, dtype=np.float32))))


def test_memory_that_a_launch_was_handed_the_address_of_is_its_own(derived):
    def body(e, x):
        between, y = torch.empty_like(x), torch.empty_like(x)
        traffic = Traffic([x])
        with e.observer.interpreting([x], "kernel", traffic):
            pointers = np.array([between.data_ptr(), between.data_ptr() + 4 * ROWS - 4], dtype=np.uint64)
            traffic.store(pointers, np.ones(2, dtype=bool))
            array_over(between)[:] = array_over(x)
        e.launch(double, between, y, kept=[between])
        return y

    assert derived(body)


def test_a_launch_that_raises_leaves_the_watch_on(derived):
    def body(e, x):
        with pytest.raises(ZeroDivisionError):
            e.launch(lambda x_: 1 / 0, x)
        return moved(e, x)

    assert not derived(body)
