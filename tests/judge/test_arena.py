import os
import subprocess
import sys
import textwrap

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelarena.judge.arena import POISONS, Allocator, Block, InputArena, OutputArena, Place, extent, tensor_at
from kernelarena.judge.memory import PAGE, HostExchange, MappedFile, SharedFile

ALIGNMENT = HostExchange.alignment

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.uint8, torch.float8_e4m3fn]


@st.composite
def layouts(draw):
    """A tensor of some size whose dimensions are permuted, padded and offset."""
    size = draw(st.lists(st.integers(0, 7), max_size=3))
    stride, step = [], 1
    for length in reversed(size):
        stride.append(step)
        step *= max(length, 1) + draw(st.integers(0, 3))
    return size, stride[::-1], draw(st.integers(0, 5))


@settings(max_examples=60, deadline=None)
@given(layouts(), st.sampled_from(DTYPES))
def test_inputs_keep_their_values_sizes_strides_and_misalignment(layout, dtype):
    size, stride, offset = layout
    storage = torch.randint(0, 2, (offset + extent(size, stride) + 1,)).to(dtype)
    value = storage.as_strided(size, stride, offset)
    arena = InputArena({"x": value, "eps": 1e-5, "flag": True, "n": 3})
    place = arena.arguments[0]
    shared = tensor_at(arena.memory.bytes, place)
    assert torch.equal(shared.float(), value.float())
    assert shared.stride() == value.stride()
    if value.numel():
        assert place.start % ALIGNMENT == value.storage_offset() * value.element_size() % ALIGNMENT
    assert [argument.value for argument in arena.arguments[1:]] == [1e-5, True, 3]
    assert arena.mutated() is None
    assert arena.overrun() is None
    arena.close()


def test_inputs_end_at_a_fence():
    arena = InputArena({"x": torch.ones(1000), "y": torch.ones(3, 5, dtype=torch.float16)})
    for place, (fence, length) in zip(arena.arguments, arena.fences, strict=True):
        end = place.start + extent(place.size, place.stride) * {"float32": 4, "float16": 2}[place.dtype]
        assert fence % PAGE == 0
        assert 0 <= fence - end < ALIGNMENT
        assert length == PAGE
    arena.close()


def test_a_changed_input_is_named():
    arena = InputArena({"x": torch.ones(64), "y": torch.ones(64)})
    tensor_at(arena.memory.bytes, arena.arguments[1])[13] = 2
    assert arena.mutated() == "y"
    arena.close()


def test_other_values_come_to_the_same_addresses():
    arena = InputArena({"x": torch.ones(64), "n": 3})
    before = arena.arguments[0]
    arena.write({"x": torch.full((64,), 2.0), "n": 3})
    assert (tensor_at(arena.memory.bytes, before) == 2).all()
    assert arena.mutated() is None
    assert arena.overrun() is None
    arena.close()


def test_a_write_beside_an_input_is_found_and_the_input_named():
    arena = InputArena({"x": torch.ones(63), "y": torch.ones(63)})
    place = arena.arguments[0]
    arena.memory.bytes[place.start + 63 * 4] = 0
    assert arena.mutated() is None
    assert "input 'x'" in arena.overrun()
    arena.close()


def test_a_file_cannot_be_resized_by_the_other_side():
    shared = SharedFile(PAGE)
    for size in (0, 10 * PAGE):
        with pytest.raises(PermissionError):
            os.ftruncate(shared.descriptor, size)
    shared.close()


@pytest.mark.parametrize(
    "place",
    [
        Place(dtype="float32", size=(1025,), stride=(1,), start=0),
        Place(dtype="float32", size=(2, 2), stride=(10**12, 1), start=0),
        Place(dtype="float32", size=(2,), stride=(-1,), start=8),
        Place(dtype="float32", size=(2,), stride=(1, 1), start=0),
        Place(dtype="float32", size=(2,), stride=(1,), start=2),
        Place(dtype="Tensor", size=(2,), stride=(1,), start=0),
    ],
    ids=["too long", "stride leads out", "negative stride", "ranks differ", "misplaced", "no dtype"],
)
def test_a_place_that_does_not_fit_is_refused(place):
    with pytest.raises(ValueError, match=r"cannot|outside|not a dtype"):
        tensor_at(torch.zeros(4096, dtype=torch.uint8), place)


class TestOutputs:
    def arena(self, expected=4096, poison=POISONS[0]):
        judge = OutputArena(expected, poison)
        candidate = Allocator(MappedFile(os.dup(judge.memory.descriptor)).bytes, judge.returned)
        return judge, candidate

    def test_allocations_are_poisoned_and_do_not_touch(self):
        judge, candidate = self.arena()
        first = candidate.allocate((10, 10), (10, 1), torch.float32)
        second = candidate.allocate((7,), (1,), torch.int32)
        assert first.isnan().all()
        assert (second == -1).all()
        first.fill_(1)
        second.fill_(2)
        assert judge.overrun(candidate.blocks) is None
        assert candidate.blocks[1].start - (candidate.blocks[0].start + 400) >= PAGE

    @pytest.mark.parametrize("distance", [0, 4, 4096])
    def test_a_write_past_the_end_is_found_however_far(self, distance):
        judge, candidate = self.arena()
        tensor = candidate.allocate((16,), (1,), torch.float32)
        assert tensor is not None
        candidate.memory[candidate.blocks[0].start + 64 + distance] = 0
        assert f"starting {distance} bytes past the end" in judge.overrun(candidate.blocks)

    def test_a_write_before_the_start_is_found(self):
        judge, candidate = self.arena()
        candidate.allocate((16,), (1,), torch.float32)
        candidate.memory[candidate.blocks[0].start - 1] = 0
        assert "before the first" in judge.overrun(candidate.blocks)

    def test_what_lies_in_the_arena_is_read_where_it_is(self):
        judge, candidate = self.arena()
        output = candidate.allocate((4, 6), (6, 1), torch.float32)[:, ::2]
        output.copy_(torch.arange(12.0).reshape(4, 3))
        place = candidate.give_back(output)
        assert place.start == candidate.blocks[0].start
        assert torch.equal(judge.tensor(place), output)

    def test_a_block_that_cannot_be_is_refused(self):
        judge, _ = self.arena()
        with pytest.raises(ValueError, match="outside"):
            judge.overrun([Block(start=0, bytes=1 << 40)])

    def test_outputs_come_back_contiguous(self):
        judge, candidate = self.arena()
        output = torch.arange(12.0).reshape(3, 4).t()
        place = candidate.give_back(output)
        assert torch.equal(judge.tensor(place), output)
        assert judge.overrun(candidate.blocks) is None

    def test_what_cannot_be_right_because_of_its_size_does_not_come_back(self):
        _, candidate = self.arena(expected=1024)
        assert candidate.give_back(torch.zeros(1 << 20)) is None

    def test_a_request_that_does_not_fit_is_left_to_the_ordinary_allocator(self):
        _, candidate = self.arena(expected=1024)
        assert candidate.allocate((1 << 24,), (1,), torch.float32) is None


def test_reading_past_an_input_is_a_fault_in_the_process_that_does_it():
    script = """
        import os, sys
        import torch
        from kernelarena.judge.arena import InputArena, tensor_at
        from kernelarena.judge.memory import MappedFile
        arena = InputArena({"x": torch.ones(1024)})
        memory = MappedFile(os.dup(arena.memory.descriptor), arena.fences).bytes
        x = tensor_at(memory, arena.arguments[0])
        assert x.sum() == 1024
        print("inside is fine", flush=True)
        start = arena.arguments[0].start
        print(memory[start + 4096])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("inside is fine")
    assert done.returncode == -11


def test_two_tensors_of_one_memory_have_storages_of_their_own():
    """What a launch wrote is kept by storage: an output that no launch saw must not pass for one beside it."""
    memory = SharedFile(1 << 16).bytes
    first, second = (
        tensor_at(memory, Place(dtype="float32", size=(4,), stride=(1,), start=start)) for start in (0, 64)
    )
    assert first.untyped_storage()._cdata != second.untyped_storage()._cdata
    first.fill_(1.0)
    assert memory[:16].view(torch.float32).tolist() == [1.0] * 4
