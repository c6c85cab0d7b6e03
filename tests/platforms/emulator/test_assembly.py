"""Assembly text is read as compilers write it."""

from __future__ import annotations

import pytest

from kernelarena.platforms.emulator.assembly import Constant, Operand, Place, Register, Symbol, parse_module
from kernelarena.platforms.emulator.assembly.operands import parse_operand
from kernelarena.platforms.emulator.assembly.statement import parse_statement
from tests.platforms.emulator.assembled import text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("v3", Operand(Register(259))),
        ("a[4:7]", Operand(Register(516, 4))),
        ("s[2:3]", Operand(Register(2, 2))),
        ("v[5]", Operand(Register(261))),
        ("vcc", Operand(Register(106, 2))),
        ("exec_hi", Operand(Register(127))),
        ("-|v3|", Operand(Register(259), negated=True, absolute=True)),
        ("neg(0)", Operand(Constant(0), negated=True)),
        ("sext(v1)", Operand(Register(257), signed=True)),
        ("-16", Operand(Constant(-16))),
        ("0x7fffffff", Operand(Constant(0x7FFFFFFF))),
        ("-4.0", Operand(Constant(-4.0))),
        ("0.15915494", Operand(Constant(0.15915494))),
        ("off", Operand(Symbol("off"))),
        (".LBB0_3", Operand(Symbol(".LBB0_3"))),
    ],
)
def test_operands(written, read):
    assert parse_operand(written) == read


def test_a_float_and_an_integer_of_one_value_are_different_constants():
    assert isinstance(parse_operand("1.0").value.value, float)
    assert isinstance(parse_operand("1").value.value, int)


def test_an_instruction_of_local_memory_has_its_offsets():
    statement = parse_statement("ds_read2st64_b32 v[2:3], v4 offset0:1 offset1:3", None)
    assert statement.mnemonic == "ds_read2st64_b32"
    assert [operand.value for operand in statement.operands] == [Register(258, 2), Register(260)]
    assert statement.modifiers == {"offset0": 1, "offset1": 3}


def test_the_suffix_of_an_encoding_is_no_part_of_the_name():
    statement = parse_statement("v_add_f32_dpp v1, v2, v3 quad_perm:[1,0,3,2] row_mask:0xf bound_ctrl:0", None)
    assert (statement.mnemonic, statement.encoding) == ("v_add_f32", "dpp")
    assert statement.modifiers == {"quad_perm": (1, 0, 3, 2), "row_mask": 15, "bound_ctrl": 0}


def test_modifiers_after_the_last_operand():
    statement = parse_statement("buffer_load_dword v1, v2, s[4:7], 0 offen offset:16 lds", None)
    assert len(statement.operands) == 4
    assert statement.modifiers == {"offen": None, "offset": 16, "lds": None}


@pytest.mark.parametrize(
    ("written", "counters"),
    [
        ("s_waitcnt vmcnt(3) lgkmcnt(0)", {"vmcnt": 3, "lgkmcnt": 0}),
        ("s_waitcnt vmcnt(0) & expcnt(7)", {"vmcnt": 0, "expcnt": 7}),
        ("s_waitcnt 0", {"vmcnt": 0, "expcnt": 0, "lgkmcnt": 0}),
        ("s_waitcnt 0xc07f", {"vmcnt": 63, "expcnt": 7, "lgkmcnt": 0}),
    ],
)
def test_waits(written, counters):
    assert parse_statement(written, None).modifiers == counters


def test_a_module_has_its_kernel_labels_and_lines():
    module = parse_module(text("s_nop 0 ; not a part\n.loc\t1 7 3\n.LBB0_1:\ns_branch .LBB0_1\ns_endpgm", lds=64))
    assert module.target == "gfx942"
    assert [statement.mnemonic for statement in module.statements] == ["s_nop", "s_branch", "s_endpgm"]
    assert module.labels[".LBB0_1"] == 1
    assert module.statements[0].place is None
    assert module.statements[1].place == Place("kernel.py", 7)
    kernel = module.kernels["kernel"]
    assert kernel.descriptor["group_segment_fixed_size"] == 64
    assert [(one.offset, one.size, one.kind) for one in kernel.arguments] == [(0, 8, "global_buffer")]
