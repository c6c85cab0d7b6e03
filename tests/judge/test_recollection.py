"""What kernels read, and what host code prepares for them, over questions of one shape."""

from types import SimpleNamespace

import pytest
import torch

from kernelarena.judge.recollection import prepared, reads_less


def test_who_reads_as_much_as_before_remembers_nothing():
    assert not reads_less([1000, 64], [1000, 64], [1000, 64])
    assert not reads_less([], [], [])


def test_who_leaves_an_input_unread_remembers():
    assert reads_less([1000, 0], [1000, 64], [1000, 64])
    assert reads_less([10, 64], [1000, 64], [1000, 64])


def test_what_is_read_once_to_prepare_something_need_not_be_read_again():
    assert not reads_less([1000, 0], [1000, 64], [1000, 0])


def test_how_much_is_read_may_follow_from_the_inputs():
    assert not reads_less([100], [100], [1000])


def test_a_few_elements_say_nothing():
    assert not reads_less([0], [16], [16])


ANSWER = SimpleNamespace(truth=SimpleNamespace(outputs=[SimpleNamespace(framework=torch.zeros(8))]))


@pytest.mark.parametrize(
    ("before", "now", "is_prepared"),
    [
        ([], [], False),
        ([(8, "a")], [(8, "a")], False),
        ([(8, "a")], [(8, "b")], True),
        ([(4, "a"), (4, "b")], [(4, "b"), (4, "c")], True),
        ([(3, "a")], [(3, "b")], False),
        ([(100, "a"), (1, "b")], [(100, "a"), (1, "c")], False),
    ],
)
def test_a_table_as_large_as_the_answer_that_follows_from_the_inputs_prepares_it(before, now, is_prepared):
    assert prepared(ANSWER, before, now) is is_prepared
