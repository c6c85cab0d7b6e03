"""What a launch loads and stores is told by the memory that it lies in."""

import numpy as np
import pytest
import torch

from kernelarena.platforms.persona.traffic import Traffic


def addresses(tensor, *indices):
    return np.array([tensor.data_ptr() + index * tensor.element_size() for index in indices], dtype=np.uint64)


def everywhere(pointers):
    return np.ones(pointers.shape, dtype=bool)


@pytest.fixture
def tensors():
    return torch.zeros(16), torch.zeros(16, dtype=torch.float16)


def test_loads_are_counted_by_tensor_and_as_often_as_they_happen(tensors):
    traffic = Traffic(tensors)
    for _ in range(2):
        traffic.load(pointers := addresses(tensors[0], 0, 5, 15), everywhere(pointers), 4)
    assert [traffic.loaded(tensor) for tensor in tensors] == [24, 0]
    assert not any(map(traffic.stored, tensors))


def test_what_is_masked_off_does_not_happen(tensors):
    traffic = Traffic(tensors)
    pointers = addresses(tensors[0], 0, 1, 1000, 1001)
    traffic.load(pointers, np.array([True, True, False, False]), 4)
    traffic.store(pointers, np.zeros(4, dtype=bool))
    assert traffic.loaded(tensors[0]) == 8
    assert not traffic.stored(tensors[0])
    assert traffic.strays == []


def test_a_view_stands_for_all_its_memory(tensors):
    traffic = Traffic([tensors[0][4:8]])
    traffic.store(pointers := addresses(tensors[0], 12), everywhere(pointers))
    assert traffic.stored(tensors[0])


def test_blocks_of_pointers_may_have_any_form_and_point_into_several_tensors(tensors):
    traffic = Traffic(tensors)
    pointers = np.stack([addresses(tensors[0], 0, 1, 2), addresses(tensors[1], 3, 4, 5)])
    traffic.load(pointers, np.array([[True, True, True], [True, False, True]]), 2)
    assert [traffic.loaded(tensor) for tensor in tensors] == [6, 4]


def test_stores_elsewhere_are_remembered_by_their_extent(tensors):
    elsewhere = torch.zeros(8)
    traffic = Traffic(tensors)
    traffic.store(pointers := addresses(elsewhere, 6, 2), everywhere(pointers))
    assert traffic.strays == [tuple(addresses(elsewhere, 2, 6).tolist())]
    assert not any(map(traffic.stored, tensors))


def test_a_launch_may_be_handed_nothing_or_empty_tensors():
    empty, elsewhere = torch.zeros(0), torch.zeros(2)
    for traffic in (Traffic([]), Traffic([empty])):
        traffic.store(pointers := addresses(elsewhere, 0), everywhere(pointers))
        assert len(traffic.strays) == 1
        assert traffic.loaded(empty) == 0
        assert not traffic.stored(empty)
