"""What passes can be kept: a model that holds it can be written down and read again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.spec.kernel import KernelFile, Language
from kernelarena.spec.plaindata import MAX_DEPTH, flaw, leaves

TEXT = st.text(st.characters(), max_size=5)  # with surrogates
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_has_no_flaw_can_be_kept(data: Any) -> None:
    if flaw(data) is not None:
        return
    model = KernelFile(task="t", language=Language.TRITON, entry="e", expect=data)
    again = KernelFile.model_validate_json(model.model_dump_json())
    assert again.expect == json.loads(json.dumps(data))


@pytest.mark.parametrize(
    ("data", "place", "problem"),
    [
        ({"a": ["ok", "\ud800"]}, ("a", 1), "holds half of a surrogate pair"),
        ({"a": {"\udfff": 1}}, ("a",), "a key holds half of a surrogate pair"),
        ({"a": {"\udfff": {"b": {}}}}, ("a",), "a key holds half of a surrogate pair"),
        ({"a": b"x"}, ("a",), r"is of a type that has no place here \(bytes\)"),
        ({"a": float("inf")}, ("a",), r"is a number without end \(inf\)"),
    ],
)
def test_a_flaw_is_named_with_its_place(data: Any, place: tuple[Any, ...], problem: str) -> None:
    found = flaw(data)
    assert found is not None
    assert found[0] == place
    assert found[1].startswith(problem.replace("\\", ""))


def nested(levels: int) -> Any:
    data: Any = 1
    for _ in range(levels):
        data = [data]
    return data


def test_depth_is_bounded() -> None:
    assert flaw(nested(MAX_DEPTH)) is None
    assert flaw(nested(MAX_DEPTH + 1)) == ((0,) * (MAX_DEPTH + 1), f"nested more than {MAX_DEPTH} levels deep")
    assert flaw(nested(100_000)) is not None


def test_leaves() -> None:
    data = {"a": [1, {}], "b": {"c": None}}
    assert sorted(leaves(data), key=repr) == [(("a", 0), 1), (("a", 1), {}), (("b", "c"), None)]
