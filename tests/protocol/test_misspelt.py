"""One slip of the keyboard is a slip; more is another name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.protocol.misspelt import meant

KNOWN = ("load", "sigmoid", "make_tensor_descriptor", "max", "exp2", "float8e4nv")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("laod", "load"),
        ("loadd", "load"),
        ("sigmoid2", "sigmoid"),
        ("sigmod", "sigmoid"),
        ("maximum", ""),
        ("make_block_ptr", ""),
        ("float8e4", ""),
        ("exp3", "exp2"),
        ("load", ""),
        ("dola", ""),
        ("mx", ""),
        ("", ""),
    ],
)
def test_the_nearest_is_named_only_where_one_slip_leads_there(word, name):
    assert meant(word, KNOWN) == name


@given(st.text("abc", min_size=4, max_size=8), st.data())
def test_any_letter_may_be_left_out_doubled_or_changed(name, data):
    place = data.draw(st.integers(0, len(name) - 1))
    for word in (
        name[:place] + name[place + 1 :],
        name[:place] + "x" + name[place:],
        name[:place] + "x" + name[place + 1 :],
    ):
        assert meant(word, [name]) == name
