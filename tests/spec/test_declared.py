"""Declared inputs and references become the Python that one would have written, or an error that says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from kernelarena.spec.declared import Input, free_names, render

DIMS = ("M", "N")
DRAWN: dict[str, tuple[Any, str]] = {
    "a size": (["M", "N"], 'rng.tensor(shape["M"], shape["N"])'),
    "nothing but a dtype": ({"size": [0], "dtype": "float8_e4m3"}, 'rng.tensor(0, dtype="float8_e4m3")'),
    "no dimension": ({"size": []}, "rng.tensor()"),
    "an expression": (["2*M + 1", 4], 'rng.tensor(2 * shape["M"] + 1, 4)'),
    "functions": (["ceil(M / 4)", "min(M, N)"], 'rng.tensor(math.ceil(shape["M"] / 4), min(shape["M"], shape["N"]))'),
    "scaled": ({"size": ["N"], "scale": 0.125}, 'rng.tensor(shape["N"], scale=0.125)'),
    "within": ({"size": ["M"], "within": [-1, 1]}, 'rng.within(-1.0, 1.0, shape["M"])'),
    "above": ({"size": ["M"], "above": 0.0, "dtype": "float32"}, 'rng.above(0.0, shape["M"], dtype="float32")'),
    "uniform": ({"size": ["M"], "uniform": [0.5, 2]}, 'rng.uniform(0.5, 2.0, shape["M"])'),
    "integers": ({"size": ["M"], "integers": [0, "N - 1"]}, 'rng.integers(0, shape["N"] - 1, shape["M"])'),
    "distinct": (
        {"size": ["M"], "distinct": [0, "N"], "dtype": "int32"},
        'rng.distinct(0, shape["N"], shape["M"], dtype="int32")',
    ),
    "a mask": ({"size": ["M", "N"], "p": 0.3}, 'rng.mask(shape["M"], shape["N"], p=0.3)'),
    "a number": (-1, "-1"),
    "no": (False, "False"),
    "zero": ({"value": 0}, "0"),
    "a dim": ("N // 2", 'shape["N"] // 2'),
    "choices": ({"choices": [1.0, -0.5]}, '(1.0, -0.5)[(shape["M"] + shape["N"]) % 2]'),
    "a seed": ({"seed": True}, "rng.seed()"),
}


@pytest.mark.parametrize(("declared", "python"), DRAWN.values(), ids=DRAWN)
def test_an_input_is_an_expression(declared: Any, python: str) -> None:
    text = render({"x": Input.model_validate(declared)}, None, DIMS)
    assert f'        "x": {python},\n' in text
    assert text.startswith("import math\n") == ("math." in python)
    compile(text, "rendered", "exec")


def test_the_whole_text_is_what_one_would_write() -> None:
    inputs = {"x": Input.model_validate(["M", "N"]), "alpha": Input.model_validate({"choices": [1.0, 2.0]})}
    assert render(inputs, "torch.mul(x,  alpha)", DIMS) == (
        "import torch\n"
        "\n"
        "\n"
        "def inputs(shape, rng):\n"
        "    return {\n"
        '        "x": rng.tensor(shape["M"], shape["N"]),\n'
        '        "alpha": (1.0, 2.0)[(shape["M"] + shape["N"]) % 2],\n'
        "    }\n"
        "\n"
        "\n"
        "def reference(x, alpha):\n"
        "    return torch.mul(x, alpha)\n"
    )


WRONG: dict[str, tuple[Any, str]] = {
    "neither": ({"dtype": "int32"}, "give a size, for a tensor, or one of value, choices and seed"),
    "both": ({"size": ["M"], "value": 1}, "give a size, for a tensor, or one of"),
    "two numbers": ({"value": 1, "seed": True}, "give a size, for a tensor, or one of"),
    "two fillings": ({"size": ["M"], "above": 0, "p": 0.5}, "above and p exclude each other"),
    "a scaled filling": ({"size": ["M"], "uniform": [0, 1], "scale": 2}, "scale goes with the trial's distribution"),
    "a mask of floats": ({"size": ["M"], "p": 0.5, "dtype": "float32"}, "leave out dtype"),
    "an empty interval": ({"size": ["M"], "within": [1, 1]}, "within: 1 is not below 1"),
    "one choice": ({"choices": [1.0]}, "at least 2 items"),
    "no expression": (["M +"], "is not an expression"),
    "a strange key": ({"size": ["M"], "low": 0}, "Extra inputs"),
}


@pytest.mark.parametrize(("declared", "said"), WRONG.values(), ids=WRONG)
def test_what_makes_no_sense_is_told(declared: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said.replace("(", r"\(").replace("+", r"\+")):
        Input.model_validate(declared)


def test_the_names_that_a_reference_takes_from_elsewhere() -> None:
    assert free_names("torch.cat([x[i] for i in range(n)])") == {"x", "n"}
    assert free_names("math.pi * z") == {"z"}
    with pytest.raises(ValueError, match=r"not one expression of Python.*goes into reference.py"):
        free_names("y = x")
