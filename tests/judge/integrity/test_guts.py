"""Memory of functions and dictionaries, on whatever interpreter runs this."""

import builtins
import ctypes
import sys
import sysconfig
import time
import types

import pytest

from kernelarena.judge.integrity.guts import Table, guts

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="the layout of this interpreter's objects is not known",
)


def unchanged(views):
    return all(view.raw == before for view, before in views)


def outer(value):
    def function(a, b=1, *, c=2):
        return a, b, c, value

    return function


@pytest.mark.parametrize(
    "change",
    [
        lambda function: setattr(function, "__code__", function.__code__.replace(co_name="other")),
        lambda function: setattr(function, "__defaults__", (2,)),
        lambda function: setattr(function, "__kwdefaults__", {"c": 3}),
    ],
    ids=["code", "defaults", "keyword defaults"],
)
def test_a_function_that_is_changed_is_told(change):
    function = outer(1)
    views = guts(function)
    assert views
    function(1)
    function.note = "an attribute is no part of it"
    assert unchanged(views)
    change(function)
    assert not unchanged(views)


def test_a_function_of_c_that_is_changed_is_told():
    views = guts(time.gmtime)
    assert unchanged(views)
    time.gmtime(0)
    types.SimpleNamespace(held=time.gmtime)
    assert unchanged(views)
    start = id(time.gmtime) + object.__basicsize__
    own = ctypes.string_at(start, 8)
    try:
        ctypes.memmove(start, ctypes.string_at(id(time.localtime) + object.__basicsize__, 8), 8)
        assert not unchanged(views)
    finally:
        ctypes.memmove(start, own, 8)
    assert unchanged(views)


def test_what_is_no_function_has_no_guts():
    assert guts(3) == guts(print.__class__) == guts(None) == []


class Owner:
    first = 1

    def second(self):
        """Do nothing."""


@pytest.mark.parametrize("count", [1, 3, 5, 200])
@pytest.mark.parametrize(
    "change",
    [
        lambda names: names.update(name_0=object()),
        lambda names: names.update(other=object()),
        lambda names: names.pop("name_0"),
        lambda names: (names.pop("name_0"), names.update(other=object())),
        lambda names: names.update({f"more_{i}": i for i in range(1000)}),
        lambda names: names.clear(),
        lambda names: names.update({5: 5}),
    ],
    ids=["replaced", "added", "removed", "exchanged", "grown", "cleared", "key of another kind"],
)
def test_a_dictionary_that_is_changed_is_told(count, change):
    names = {f"name_{i}": object() for i in range(count)}
    table = Table(names)
    assert table.same
    assert names.get("name_0")
    assert sorted(names)
    assert table.same
    change(names)
    assert not table.same


def test_a_class_that_is_changed_is_told():
    cls = type("Other", (Owner,), {"first": 1})
    table = Table(vars(cls))
    assert table.same
    cls().second()
    assert table.same
    cls.first = 2
    assert not table.same


def test_real_modules_are_known():
    for module in (time, builtins, ctypes, sys):
        assert Table(vars(module)).same
    for cls in (int, Owner, type):
        assert Table(vars(cls)).same


def test_nothing_is_said_of_an_empty_one():
    assert not Table({}).same
