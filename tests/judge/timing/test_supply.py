"""Inputs of timed runs: drawn from problems, never the same twice, at the same places."""

from random import Random

import pytest
import torch

from kernelarena.judge.arena import InputArena, tensor_at
from kernelarena.judge.timing.supply import Supply


class Posed:
    def __init__(self, **inputs):
        self.inputs = inputs


def supply(*problems, places=2, seed=1):
    arenas = [InputArena(problems[0].inputs) for _ in range(places)]
    return arenas, Supply(arenas, problems, Random(seed))


def held(arena, index=0):
    return tensor_at(arena.memory.bytes, arena.arguments[index]).clone()


def matrices(*shape, dtype=torch.float32, count=3):
    return [Posed(x=torch.full(shape, float(number), dtype=dtype)) for number in range(count)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float8_e4m3fn])
def test_fresh_inputs_are_rows_of_two_problems(dtype):
    (arena, _), source = supply(*matrices(64, 32, dtype=dtype))
    source.fresh(0)
    found = held(arena).float()
    middle = found[:, 1:-1]
    assert all(len(set(row)) == 1 for row in middle.tolist())
    counts = [int((middle[:, 0] == value).sum()) for value in middle[:, 0].unique()]
    assert len(counts) == 2
    assert 1 <= min(counts) <= 8


def test_the_rows_that_change_keep_their_ends_every_other_time():
    (arena, _), source = supply(*matrices(512, 32, count=2))
    kept = 0
    for _ in range(40):
        source.fresh(0)
        found = held(arena)
        base = found.mode().values.mode().values
        changed = found[found[:, 1] != base]
        ends = (changed[:, 0] == base) & (changed[:, -1] == base)
        assert ends.all() or not ends.any()
        kept += bool(ends.all())
    assert 5 < kept < 35


def test_a_vector_changes_by_the_element_and_an_integer_not_at_all():
    problems = [Posed(v=torch.full((640,), float(n)), i=torch.full((8, 8), n)) for n in range(2)]
    (arena, _), source = supply(*problems)
    source.fresh(0)
    vector, integers = held(arena), held(arena, 1)
    values, counts = vector.unique(return_counts=True)
    assert len(values) == 2
    assert 1 <= int(counts.min()) <= 20
    assert len(integers.unique()) == 1


def test_layouts_with_gaps_keep_what_lies_between_their_elements():
    def strided(value):
        return torch.full((32, 64), value)[:, ::2]

    (arena, _), source = supply(Posed(x=strided(0.0)), Posed(x=strided(1.0)))
    source.fresh(0)
    assert set(held(arena).flatten().tolist()) == {0.0, 1.0}
    between = tensor_at(arena.memory.bytes, arena.arguments[0].model_copy(update={"size": (32, 63), "stride": (64, 1)}))
    assert not {0.0, 1.0} & set(between[:, 1::2].flatten().tolist())


def test_no_two_fillings_are_equal():
    (arena, _), source = supply(*[Posed(x=torch.randn(64, 8)) for _ in range(3)])
    seen = set()
    for _ in range(100):
        source.fresh(0)
        seen.add(arena.memory.bytes.numpy().tobytes())
    assert len(seen) == 100


def test_known_inputs_are_those_of_the_problem_and_a_change_shows():
    problems = matrices(16, 16)
    (first, second), source = supply(*problems)
    source.known(1, 2)
    assert torch.equal(held(second), problems[2].inputs["x"])
    assert second.mutated() is None
    tensor_at(second.memory.bytes, second.arguments[0])[0, 0] = 9.0
    assert second.mutated() == "x"
    assert held(first).eq(0).all()  # the other place is as it was


def test_what_is_empty_or_one_number_is_no_trouble():
    problems = [Posed(x=torch.zeros(0, 4), y=torch.tensor(float(n)), z=torch.zeros(4, 0)) for n in range(2)]
    (arena, _), source = supply(*problems)
    source.fresh(0)
    assert held(arena, 1).item() in (0.0, 1.0)
