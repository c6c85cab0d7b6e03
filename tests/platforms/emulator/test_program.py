"""What is not modelled is refused when a program is loaded, with the text of the instruction."""

from __future__ import annotations

import numpy as np
import pytest

from kernelarena.errors import InputError
from kernelarena.platforms.emulator import Memory, launch, load
from tests.platforms.emulator.assembled import text


def test_an_unknown_instruction_is_named():
    program = load(text("v_frobnicate_b32 v1, v2\ns_endpgm"))
    assert program.kernels == {}
    assert program.missing == {"kernel": ("v_frobnicate_b32 v1, v2",)}
    with pytest.raises(InputError, match="cannot be run: v_frobnicate_b32 v1, v2"):
        launch(program, "kernel", (1, 1, 1), (64, 1, 1), [0], Memory())


def test_an_unknown_modifier_is_not_passed_over():
    assert load(text("v_add_f32_e64 v1, v2, v3 wibble:1\ns_endpgm")).unsupported == (
        "v_add_f32_e64 v1, v2, v3 wibble:1",
    )


def test_what_cannot_be_reached_need_not_be_known():
    program = load(text("s_branch .LBB0_1\nv_frobnicate_b32 v1, v2\n.LBB0_1:\ns_endpgm"))
    assert program.unsupported == ()


def test_another_chip_is_refused():
    assert load(text("s_endpgm", target="gfx1100")).unsupported == ("instructions of gfx1100",)


def test_a_mode_that_changes_rounding_is_refused():
    changed = text("s_endpgm").replace("\t\t.amdhsa_next", "\t\t.amdhsa_float_round_mode_32 3\n\t\t.amdhsa_next", 1)
    assert load(changed).unsupported == (".amdhsa_float_round_mode_32 3",)


def test_a_launch_has_to_fit_the_kernel():
    program = load(text("s_endpgm"))
    with pytest.raises(InputError, match="at most 1024 work-items; it is given 2048"):
        launch(program, "kernel", (1, 1, 1), (2048, 1, 1), [0], Memory())
    with pytest.raises(InputError, match="takes 1 arguments; it is launched with 2"):
        launch(program, "kernel", (1, 1, 1), (64, 1, 1), [0, 1], Memory())
    with pytest.raises(InputError, match="there is no such kernel"):
        launch(program, "other", (1, 1, 1), (64, 1, 1), [0], Memory())


def test_memory_does_not_overlap():
    memory, array = Memory(), np.zeros(64, np.uint8)
    memory.add(array.ctypes.data, 64, "whole")
    with pytest.raises(ValueError, match="overlaps"):
        memory.add(array.ctypes.data + 32, 8, "part")
