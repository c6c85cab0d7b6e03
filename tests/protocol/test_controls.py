"""Wrong answers count as wrong, right ones as right, and what cannot be told on a trial as neither."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from kernelarena.protocol import controls, tolerance
from kernelarena.protocol.controls import Material, Outcome, honest_answers, is_wrong
from kernelarena.protocol.sampler import Sampler
from kernelarena.protocol.truth import evaluate, truth
from kernelarena.protocol.wrong_answers import CONTROLS
from kernelarena.spec import Distribution, Shape

BY_NAME = {control.name: control for control in CONTROLS}
REFERENCES = {
    "softmax": lambda x: torch.softmax(x, -1),
    "layer_norm": lambda x: F.layer_norm(x, (x.shape[-1],)),
    "product": lambda x: x @ x.flip(0).t(),
    "gelu": lambda x: F.gelu(x),
    "sums": lambda x: (x.sum(-1), x.cumsum(-1)),
    "cumsum": lambda x: x.cumsum(-1),
}


def drawn(distribution=Distribution.NORMAL, dtype="float32", m=32, n=256, seed=0):
    return Sampler(Shape(dims={}, dtype=dtype, distribution=distribution), seed).tensor(m, n)


def material(reference, x, **more):
    y = torch.randn(x.shape, generator=torch.Generator().manual_seed(7)).to(x.dtype)
    mixed = torch.cat([y[:1], x[1:]])
    answer = truth(reference, {"x": x}, seed=1)
    return Material(
        reference=reference,
        inputs={"x": x},
        truth=answer,
        honest=tuple(output.framework for output in answer.outputs),
        previous=tuple(evaluate(reference, {"x": y})),
        earlier=tuple(evaluate(reference, {"x": mixed})),
        **more,
    )


def outcomes(name, made):
    return [outcome for outcome, _, _ in controls.judge(BY_NAME[name], made)]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", REFERENCES)
def test_every_gross_control_is_rejected_on_ordinary_inputs(name, dtype):
    made = material(REFERENCES[name], drawn(dtype=dtype))
    for control in CONTROLS:
        found = outcomes(control.name, made)
        assert Outcome.PASSED not in found, control.name
        if found and not control.faint:
            assert set(found) == {Outcome.REJECTED}, control.name
    for what, answer in honest_answers(made):
        assert made.accepts(answer), what


@pytest.mark.parametrize("name", ["half accumulation", "one term short", "tf32 products", "narrow intermediates"])
def test_faint_ones_are_rejected_in_float32(name):
    applies = [reference for reference, code in REFERENCES.items() if outcomes(name, material(code, drawn()))]
    assert "product" in applies
    for reference in applies:
        assert set(outcomes(name, material(REFERENCES[reference], drawn()))) == {Outcome.REJECTED}, reference


def test_controls_have_names_of_their_own_and_say_what_they_need():
    assert len(BY_NAME) == len(CONTROLS)
    integers = material(lambda x: x.argmax(-1), drawn())
    for control in CONTROLS:
        if not outcomes(control.name, integers):
            assert control.needs, control.name


def test_one_output_is_altered_at_a_time():
    made = material(REFERENCES["sums"], drawn())
    assert [index for _, index, _ in controls.judge(BY_NAME["zeros"], made)] == [0, 1]
    assert [index for _, index, _ in controls.judge(BY_NAME["rows shifted"], made)] == [1]
    assert outcomes("outputs exchanged", material(lambda x: (x + 1, x * 2), drawn())) == [Outcome.REJECTED] * 2


def test_what_cannot_be_told_is_vacuous():
    assert set(outcomes("zeros", material(lambda x: x * 0, drawn()))) == {Outcome.VACUOUS}
    same = torch.ones(4, 64) * torch.arange(1.0, 65.0)
    assert set(outcomes("rows shifted", material(lambda x: x * 2, same))) == {Outcome.VACUOUS}
    assert set(outcomes("columns shifted", material(lambda x: x * 2, same))) == {Outcome.REJECTED}
    constant = drawn(Distribution.CONSTANT_ROWS)
    assert Outcome.PASSED not in outcomes("zeros", material(REFERENCES["layer_norm"], constant))
    long = drawn(dtype="bfloat16", m=2, n=20000)
    assert set(outcomes("one term short", material(REFERENCES["softmax"], long))) == {Outcome.VACUOUS}


def test_a_tolerance_that_is_too_wide_is_found(monkeypatch):
    made = material(REFERENCES["softmax"], drawn())
    assert outcomes("1 % larger", made) == [Outcome.REJECTED]
    for name in ("K", "ULPS", "SUM_ULPS", "ROUNDINGS"):
        monkeypatch.setattr(tolerance, name, 1e6)
    made = material(REFERENCES["softmax"], drawn())  # what the bounds of a truth are is worked out once
    assert outcomes("1 % larger", made) == [Outcome.PASSED]
    ((_, _, words),) = controls.judge(BY_NAME["1 % larger"], made)
    assert words.startswith("it errs by 0.01 of the norm, PyTorch by ")


def test_reduced_precision_is_not_wrong_where_it_is_allowed():
    strict = material(REFERENCES["product"], drawn())
    lenient = material(REFERENCES["product"], drawn(), allow_reduced_precision=True)
    assert outcomes("tf32 products", strict) == [Outcome.REJECTED]
    assert outcomes("tf32 products", lenient) == [Outcome.VACUOUS]
    for name in ("noise", "1 % larger", "one element", "zeros"):
        assert set(outcomes(name, lenient)) == {Outcome.REJECTED}, name


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("distribution", [one for one in Distribution if one is not Distribution.SPECIALS])
@pytest.mark.parametrize("name", ["softmax", "layer_norm", "product", "gelu"])
def test_right_answers_are_never_wrong(name, distribution, dtype):
    made = material(REFERENCES[name], drawn(distribution, dtype, m=9, n=129))
    output = made.truth.outputs[0]
    for what, (answer,) in honest_answers(made):
        assert not is_wrong(output, made.truth, answer), what
    assert is_wrong(output, made.truth, torch.full_like(made.honest[0], math.nan))


def test_numbers_where_none_are_due_are_wrong_and_the_reverse():
    x = drawn(m=4, n=8)
    x[1, 3], x[2, 5] = math.inf, math.nan
    made = material(lambda x: x * 2, x)
    output = made.truth.outputs[0]
    assert not is_wrong(output, made.truth, x * 2)
    for index in ((1, 3), (2, 5)):
        number = x * 2
        number[index] = 1.0
        assert is_wrong(output, made.truth, number)
    infinite = x * 2
    infinite[0, 0] = math.inf
    assert is_wrong(output, made.truth, infinite)


def test_integers_are_wrong_if_they_differ():
    made = material(lambda x: x.argmax(-1), drawn())
    output = made.truth.outputs[0]
    assert not is_wrong(output, made.truth, made.honest[0])
    other = made.honest[0].clone()
    other[3] += 1
    assert is_wrong(output, made.truth, other)
    assert set(outcomes("one element", made)) == {Outcome.REJECTED}
