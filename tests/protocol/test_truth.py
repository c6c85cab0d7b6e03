"""What is measured about a reference: truth, PyTorch's answer, conditioning, and the length of its sums."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from kernelarena.errors import InputError
from kernelarena.protocol.truth import truth


def test_the_truth_is_exact_in_double():
    x = torch.randn(3, 500).half()
    one = truth(lambda x: x.sum(-1), {"x": x}, seed=0)
    output = one.outputs[0]
    assert one.precision == "float64"
    assert output.dtype is torch.float16
    assert output.value.dtype is torch.float64
    assert torch.equal(output.value, x.double().sum(-1))
    assert torch.equal(output.framework, x.sum(-1))


def test_inputs_survive_a_reference_that_works_in_place():
    x, y = torch.randn(4), torch.randn(4, dtype=torch.float64)
    before = x.clone(), y.clone()
    one = truth(lambda x, y: (x.mul_(2), y.add_(x)), {"x": x, "y": y}, seed=0)
    assert torch.equal(x, before[0])
    assert torch.equal(y, before[1])
    assert torch.equal(one.outputs[0].framework, before[0] * 2)


def test_conditioning_is_the_error_of_a_stable_sum():
    x = torch.randn(200, 1000)
    output = truth(lambda x: x.sum(-1), {"x": x}, seed=3).outputs[0]
    # Independent signs: the shift of each row has the standard deviation ε·‖row‖₂, so the norm over rows is ε·‖x‖_F.
    assert output.conditioning_norm == pytest.approx(2.0**-24 * float(x.double().norm()), rel=0.2)


def test_conditioning_follows_cancellation():
    x = torch.tensor([[1e6, 1.0, -1e6], [1.0, 2.0, 3.0]])
    output = truth(lambda x: x.sum(-1, keepdim=True), {"x": x}, seed=0).outputs[0]
    assert 1e5 * output.conditioning[1] < output.conditioning[0] < 1e7 * output.conditioning[1]


def test_scalars_and_integers_are_passed_as_they_are():
    seen = []

    def reference(x, index, eps, flag):
        seen.append((x.dtype, index.dtype, eps, flag))
        return x[index] + eps

    truth(reference, {"x": torch.randn(4), "index": torch.tensor([1, 2]), "eps": 1e-5, "flag": True}, seed=0)
    assert {row[1:] for row in seen} == {(torch.int64, 1e-5, True)}
    assert {row[0] for row in seen} == {torch.float64, torch.float32}


def test_an_empty_vector_keeps_its_dtype_as_a_template():
    like = torch.empty(0, dtype=torch.float8_e4m3fnuz)
    one = truth(lambda x, like: (x / 3).to(like.dtype), {"x": torch.randn(4, 4), "like": like}, seed=0)
    assert one.outputs[0].dtype is torch.float8_e4m3fnuz
    assert one.precision == "float64"


def test_constants_that_the_reference_creates_are_as_wide_as_its_inputs():
    one = truth(lambda x: x * torch.linspace(0, 1, 7).sqrt(), {"x": torch.ones(7)}, seed=0)
    assert torch.equal(one.outputs[0].value, torch.linspace(0, 1, 7, dtype=torch.float64).sqrt())
    assert torch.get_default_dtype() is torch.float32


def test_a_reference_that_refuses_double_is_evaluated_in_single():
    def picky(x):
        if x.dtype is torch.float64:
            raise NotImplementedError("no double here")
        return x * 2

    one = truth(picky, {"x": torch.ones(3).half()}, seed=0)
    assert one.precision == "float32"
    assert one.outputs[0].dtype is torch.float16


def test_a_dtype_that_pytorch_has_no_kernel_for_is_rounded_from_single():
    def picky(x):
        if x.dtype is torch.bfloat16 and not x.is_meta:
            raise NotImplementedError("no bfloat16 here")
        return x / 3, x.float().sum()

    one = truth(picky, {"x": torch.ones(3).bfloat16()}, seed=0)
    assert [output.dtype for output in one.outputs] == [torch.bfloat16, torch.float32]
    assert torch.equal(one.outputs[0].framework, (torch.ones(3) / 3).bfloat16())


@pytest.mark.parametrize("reference", [lambda x: x @ x, lambda x: "text", lambda x: ()])
def test_a_reference_that_does_not_work_is_the_users_mistake(reference):
    with pytest.raises(InputError, match="reference"):
        truth(reference, {"x": torch.randn(2, 3)}, seed=0)


@pytest.mark.parametrize(
    ("terms", "reference"),
    [
        (1, lambda x, y: x + y.t()),
        (1, lambda x, y: torch.cat([x, x]).flip(0).amax(-1)),
        (48, lambda x, y: x @ y),
        (48, lambda x, y: F.linear(x, y.t().contiguous(), x[0, :32])),
        (48, lambda x, y: torch.softmax(x, -1)),
        (48, lambda x, y: x.mean(-1)),
        (32, lambda x, y: x.sum(0)),
        (48, lambda x, y: x.cumsum(-1)),
        (32 * 48, lambda x, y: x.sum()),
        (48, lambda x, y: F.layer_norm(x, (48,))),
        (48, lambda x, y: torch.einsum("mk,kn->mn", x, y)),
        (6, lambda x, y: F.conv1d(x[:2, None], y[None, :2, :3].repeat(1, 1, 1).transpose(0, 1)[:1].repeat(1, 1, 2))),
        (64, lambda x, y: F.scaled_dot_product_attention(*[x.reshape(1, 1, 64, 24)] * 3)),
    ],
)
def test_the_longest_sum_is_observed(terms, reference):
    assert truth(reference, {"x": torch.randn(32, 48), "y": torch.randn(48, 32)}, seed=0).terms == terms


@pytest.mark.parametrize(
    ("expected", "x"),
    [
        (False, torch.arange(12.0).reshape(3, 4)),
        (True, torch.arange(1.0, 4.0)[:, None].expand(3, 4)),
        (False, torch.zeros(3, 4)),
        (False, torch.ones(4, 1)),
        (True, torch.ones(5)),
        (False, torch.tensor(1.0)),
    ],
)
def test_repetition_is_noticed(expected, x):
    assert truth(lambda x: x * 2, {"x": x}, seed=0).repeated is expected


@pytest.mark.parametrize(
    ("equal", "reference"),
    [
        (24, lambda x, y: x.sum(-1)),
        (16, lambda x, y: x.sum(0)),  # presumed, which only makes the tolerance wider
        (1, lambda x, y: x @ y),
        (24, lambda x, y: x @ y.t().contiguous().t()[:1].expand(24, 8)),
        (24, lambda x, y: torch.softmax(x, -1)),
        (1, lambda x, y: x * 2),
        (1, lambda x, y: torch.softmax(y, -1)),
    ],
)
def test_sums_of_equal_terms_are_observed(equal, reference):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(16, 1, generator=generator).expand(16, 24).contiguous()
    y = torch.randn(24, 8, generator=generator)
    assert truth(reference, {"x": x, "y": y}, seed=0).equal_terms == equal


def test_a_reference_may_look_at_a_number_on_its_way():
    def mean(x):
        return (x.sum(-1) / torch.tensor(float(x.shape[-1])).item(),)

    found = truth(mean, {"x": torch.ones(4, 8)}, seed=1)
    assert torch.equal(found.outputs[0].value, torch.ones(4, dtype=torch.float64))
