"""A task's own code may do anything; whatever it does wrong is said in one line that names its file."""

import pytest
import torch

from kernelarena.errors import InputError
from kernelarena.judge import overdue
from kernelarena.judge import reference as module
from kernelarena.judge.reference import Reference
from kernelarena.spec import TaskSource

INPUTS = "def inputs(shape, rng):\n    return {'x': rng.tensor(shape['M'], shape['N'])}\n"
REFERENCE = "def reference(x):\n    return x * 2\n"


@pytest.fixture
def source(tasks):
    def make(text) -> TaskSource:
        return tasks["softmax"].model_copy(update={"reference": text, "origin": "tasks/here"})

    return make


@pytest.fixture
def shape(tasks):
    return tasks["softmax"].task.shapes()[0].with_(dims={"M": 3, "N": 5})


def test_what_is_right_is_drawn_and_outlined(source, shape, platforms):
    reference = Reference(source(INPUTS + REFERENCE))
    inputs = reference.draw(shape, platforms["cpu"], 1)
    assert reference.function(**inputs)[0].shape == (3, 5)
    outlined, outputs = reference.outline(shape, platforms["cpu"])
    assert outlined["x"].device.type == outputs[0].device.type == "meta"


@pytest.mark.parametrize(
    "layout", ["rng.tensor(shape['M'], shape['N'])", "rng.tensor(shape['M']).expand(shape['N'], -1)"]
)
def test_what_a_chip_takes_for_zero_is_drawn_as_zero(source, shape, platforms, layout):
    reference = Reference(source(f"def inputs(shape, rng):\n    return {{'x': {layout}}}\n" + REFERENCE))
    tiny = shape.with_(dims={"M": 64, "N": 64}, dtype="float16", distribution="tiny")
    smallest = torch.finfo(torch.float16).tiny
    kept, flushed = (reference.draw(tiny, platforms[name], 1)["x"] for name in ("mi300", "mi250"))
    assert kept.stride() == flushed.stride()
    assert ((kept.abs() < smallest) & (kept != 0)).any()
    assert torch.equal(flushed, torch.where(kept.abs() < smallest, 0.0, kept))


def test_a_reference_that_reads_values_has_no_outline(source, shape, platforms):
    reference = Reference(source(INPUTS + "def reference(x):\n    return x * float(x.sum())\n"))
    assert reference.outline(shape, platforms["cpu"])[1] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import absent_module\n", ":1: cannot be loaded: ModuleNotFoundError"),
        ("\nraise SystemExit(0)\n", ":2: cannot be loaded: SystemExit"),
        (INPUTS, ": defines no function 'reference'"),
        ("inputs = 3\n" + REFERENCE, ": defines no function 'inputs'"),
    ],
)
def test_what_does_not_load_names_the_file(source, text, message):
    with pytest.raises(InputError, match=rf"^tasks/here/reference\.py{message}"):
        Reference(source(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def inputs(shape, rng):\n    raise ValueError('boom')\n" + REFERENCE, r"inputs\(\) fails: ValueError: boom"),
        ("def inputs(shape, rng):\n    raise SystemExit(0)\n" + REFERENCE, r"inputs\(\) fails: SystemExit"),
        ("def inputs(shape, rng):\n    return None\n" + REFERENCE, r"inputs\(\) must return a dictionary"),
        ("def inputs(shape, rng):\n    return {'x': 'text'}\n" + REFERENCE, r"inputs\(\) must return a dictionary"),
        (INPUTS + "def reference(y):\n    return y\n", r"reference\(\) fails on its own inputs: TypeError"),
        (INPUTS + "def reference(x):\n    raise SystemExit(0)\n", r"reference\(\) fails on its own inputs: SystemExit"),
        (INPUTS + "def reference(x):\n    return None\n", r"reference\(\) must return a tensor"),
        (INPUTS + "def reference(x):\n    return {'y': x}\n", r"reference\(\) must return a tensor"),
    ],
)
def test_what_fails_later_names_the_file_too(source, shape, platforms, text, message):
    reference = Reference(source(text))
    with pytest.raises(InputError, match=rf"^tasks/here/reference\.py(:\d)?: {message}"):
        reference.outline(shape, platforms["cpu"])
    with pytest.raises(InputError, match=rf"^tasks/here/reference\.py(:\d)?: {message}"):
        reference.function(**reference.draw(shape, platforms["cpu"], 1))


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    monkeypatch.setattr(overdue, "_LOOK_S", 0.05)


LOOP = "def reference(x):\n    while True:\n        pass\n"


def test_what_takes_too_long_is_ended_with_its_line_and_not_waited_for_again(source, shape, platforms, impatient):
    reference = Reference(source(INPUTS + LOOP))
    inputs = reference.draw(shape, platforms["cpu"], 1)
    with pytest.raises(InputError, match=r"^tasks/here/reference\.py:[45]: .* did not finish within 0.2 s") as first:
        reference.function(**inputs)
    with pytest.raises(InputError) as second:
        reference.function(**inputs)
    assert second.value is first.value


def test_one_that_catches_everything_takes_too_long_all_the_same(source, shape, platforms, impatient):
    stubborn = (
        "def reference(x):\n    try:\n        while True:\n            pass\n"
        "    except BaseException:\n        return x\n"
    )
    reference = Reference(source(INPUTS + stubborn))
    inputs = reference.draw(shape, platforms["cpu"], 1)
    with pytest.raises(InputError, match="did not finish"):
        reference.function(**inputs)
