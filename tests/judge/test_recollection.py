"""What kernels read, and what host code prepares for them, over questions of one shape."""

from types import SimpleNamespace

import pytest
import torch

from kernelarena.judge.recollection import prepared, reads_less


def test_who_reads_as_much_as_before_remembers_nothing():
    assert not reads_less([1000, 256], [1000, 256], [1000, 256])
    assert not reads_less([], [], [])


def test_who_leaves_an_input_unread_remembers():
    assert reads_less([1000, 0], [1000, 256], [1000, 256])
    assert reads_less([10, 256], [1000, 256], [1000, 256])


def test_what_is_read_once_to_prepare_something_need_not_be_read_again():
    assert not reads_less([1000, 0], [1000, 256], [1000, 0])


def test_how_much_is_read_may_follow_from_the_inputs():
    assert not reads_less([100], [100], [1000])


def test_a_few_elements_say_nothing():
    assert not reads_less([0], [16], [16])


def asked(dtype: torch.dtype, *inputs: torch.Tensor) -> SimpleNamespace:
    outputs = [SimpleNamespace(framework=torch.zeros(8, dtype=dtype))]
    return SimpleNamespace(inputs=dict(enumerate(inputs)), truth=SimpleNamespace(outputs=outputs))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(
    ("before", "now", "is_prepared"),
    [
        ([], [], False),
        ([(8, "a", True)], [(8, "a", True)], False),
        ([(8, "a", True)], [(8, "b", True)], True),
        ([(4, "a", True), (4, "b", True)], [(4, "b", True), (8, "c", True)], True),
        ([(7, "a", True)], [(7, "b", True)], False),
        ([(100, "a", True), (1, "b", True)], [(100, "a", True), (1, "c", True)], False),
    ],
)
def test_a_table_as_large_as_the_answer_that_follows_from_the_inputs_prepares_it(dtype, before, now, is_prepared):
    assert prepared(asked(dtype), before, now) is is_prepared


def test_whole_numbers_may_follow_from_whole_numbers_alone():
    before, now = [(8, "a", False)], [(8, "b", False)]
    assert prepared(asked(torch.float16, torch.zeros(3)), before, now)
    assert not prepared(asked(torch.float16, torch.zeros(3), torch.zeros(3, dtype=torch.int32)), before, now)


def test_an_answer_of_bytes_is_said_by_as_many():
    assert prepared(asked(torch.int8), [(4, "a", True)], [(4, "b", True)])
