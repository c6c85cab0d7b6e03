"""What every reference must be: finite, deterministic, device-agnostic, and a function of its inputs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import torch
import yaml
from torch.utils.flop_counter import FlopCounterMode

from kernelarena.spec import Distribution, Kind, Layout, Shape
from kernelarena.spec.task import Aspect
from tests.tasks.conftest import SMALL, TASKS, Operator, in_float64, operator


def test_the_signature_names_the_inputs_in_order(op: Operator) -> None:
    head = re.fullmatch(r"(\w+)\((.*?)\) ->.*", op.task.signature)
    assert head is not None
    assert head[1] == op.task.id
    named = re.findall(r"(\w+):", head[2])
    assert named == list(op.draw(op.task.dtypes[0]))


def test_the_reference_knows_nothing_of_the_harness(op: Operator) -> None:
    imported = {
        (node.names[0].name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
        for node in ast.walk(ast.parse(TASKS[op.task.id].reference))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= {"torch", "math"}


@pytest.mark.parametrize("layout", list(Layout))
def test_outputs_are_finite_and_repeatable_in_every_distribution(op: Operator, layout: Layout) -> None:
    for dtype in op.task.dtypes:
        for distribution in op.task.distributions:
            if distribution is Distribution.SPECIALS:
                continue
            inputs = op.draw(dtype, distribution=distribution, layout=layout)
            again = op.draw(dtype, distribution=distribution, layout=layout)
            true = op.compute(in_float64(inputs))
            for output, own, same in zip(true, op.compute(inputs), op.compute(again), strict=True):
                assert torch.isfinite(output.double()).all(), (dtype, distribution)
                assert torch.equal(own.double(), same.double())
                if own.is_floating_point():  # what comes near to overflowing the dtype may do so on the way
                    held = output.double().abs() < torch.finfo(own.dtype).max / 256
                    assert torch.isfinite(own.double())[held].all(), (dtype, distribution)


def test_inputs_follow_the_trials_layout(op: Operator) -> None:
    for name, value in op.draw(op.task.dtypes[0], layout=Layout.OFFSET).items():
        if isinstance(value, torch.Tensor) and value.numel():
            assert value.storage_offset() == 1, f"{name} was made outside of the sampler"
    for name, value in op.draw(op.task.dtypes[0], layout=Layout.STRIDED).items():
        if isinstance(value, torch.Tensor) and value.dim() > 1:
            inner = value.stride().index(1)  # the last dimension, unless it is a transposed view
            assert sorted(value.stride())[1] > value.shape[inner], f"{name} was made outside of the sampler"


def test_the_reference_does_not_write_to_its_inputs(op: Operator) -> None:
    inputs = op.draw(op.task.dtypes[-1])
    before = {name: value.clone() for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    op.compute(inputs)
    for name, value in before.items():
        assert torch.equal(value.double(), inputs[name].double())


def test_the_meta_device_gives_the_same_outputs_without_values(op: Operator) -> None:
    if op.task.law is not None:
        pytest.skip("PyTorch draws no random numbers there")
    for dtype in op.task.dtypes:
        real = op.compute(op.draw(dtype))
        meta = op.compute(op.draw(dtype, device="meta"))
        assert all(output.device.type == "meta" for output in meta)
        assert [(o.shape, o.dtype) for o in meta] == [(o.shape, o.dtype) for o in real]


def test_production_shapes_are_free_on_the_meta_device(op: Operator) -> None:
    if op.task.law is not None:
        pytest.skip("PyTorch draws no random numbers there")
    for dims in (*op.task.visible, *op.task.production):
        outputs = op.compute(op.draw(op.task.dtypes[0], dims=dims, device="meta"))
        assert all(output.numel() for output in outputs)


def test_outputs_depend_on_every_floating_input(op: Operator) -> None:
    dtype = "float32" if "float32" in op.task.dtypes else op.task.dtypes[0]
    usual = op.task.distributions[0]
    inputs, others = op.draw(dtype, distribution=usual), op.draw(dtype, distribution=usual, seed=1)
    if op.task.kind in (Kind.CREATION, Kind.RANDOM):
        pytest.skip("what is created or drawn depends on no tensor")
    if Aspect.VALUES not in op.task.contract:
        pytest.skip("there are no values that could depend on anything")
    outputs = op.compute(in_float64(inputs))
    for name, value in inputs.items():
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.numel():
            continue
        if name == op.task.in_place:  # it may be overwritten as a whole
            continue
        if op.task.kind is Kind.VIEW and len(outputs) == 1 and value.shape == outputs[0].shape:
            continue  # it may only say how large the view is to be
        changed = op.compute(in_float64({**inputs, name: others[name]}))
        shares = [(a.double() != b.double()).double().mean() for a, b in zip(outputs, changed, strict=True)]
        assert max(shares) > 0.2, f"{name} hardly matters"
    both = op.compute(in_float64(others))
    for output, other in zip(outputs, both, strict=True):
        assert (output.double() != other.double()).double().mean() > 0.2, "an output that the inputs do not decide"


def test_the_work_model_counts_the_bytes_of_inputs_and_outputs(op: Operator) -> None:
    if op.task.law is not None and op.task.in_place is None:
        pytest.skip("PyTorch draws no random numbers on the meta device")
    for dtype in op.task.dtypes:
        for dims in (SMALL[op.task.id], *op.task.visible, *op.task.production):
            inputs = op.draw(dtype, dims=dims, device="meta")
            outputs = () if op.task.law is not None else op.compute(inputs)
            tensors = [value for value in (*inputs.values(), *outputs) if isinstance(value, torch.Tensor)]
            moved = sum(tensor.numel() * tensor.itemsize for tensor in tensors)
            if op.task.id == "cross_entropy":  # the logits of ignored rows need not be read
                ignored = dims["N"] // 7
                moved -= ignored * dims["V"] * inputs["logits"].itemsize
            counted = op.task.bytes(Shape(dims=dims, dtype=dtype))
            assert counted <= moved
            in_part = op.task.kind in _READ_IN_PART or op.task.in_place is not None or op.task.id == "paged_attention"
            if not in_part:
                assert counted == moved


_READ_IN_PART = (Kind.GATHER_SCATTER, Kind.CREATION, Kind.RANDOM, Kind.VIEW)
"""Kinds of operators that do not look at all of what they are given."""


def test_the_work_model_of_cross_entropy_knows_how_many_rows_are_ignored() -> None:
    op = operator("cross_entropy")
    for rows in range(1, 30):
        inputs = op.draw("float32", dims={"N": rows, "V": 12})
        assert int((inputs["target"] == inputs["ignore_index"]).sum()) == rows // 7


@pytest.mark.parametrize("name", ["matmul", "bmm"])
def test_the_work_model_of_products_agrees_with_torchs_own_count(name: str) -> None:
    op = operator(name)
    for dims in op.task.production:
        with FlopCounterMode(display=False) as counter:
            op.compute(op.draw("float16", dims=dims, device="meta"))
        assert op.task.flops(Shape(dims=dims, dtype="float16")) == counter.get_total_flops()


def test_causal_attention_counts_the_half_of_the_scores_that_is_needed() -> None:
    task = operator("attention").task
    shape = Shape(dims={"B": 2, "H": 3, "S": 1024, "D": 64}, dtype="float16")
    products = 2 * 3 * 1024 * 1024 * 4 * 64
    assert 0.5 <= task.flops(shape) / products <= 0.53


def test_work_grows_with_the_dims(op: Operator) -> None:
    dims = SMALL[op.task.id]
    dtype = op.task.dtypes[0]
    small = Shape(dims=dims, dtype=dtype)
    for name, size in dims.items():  # by none need it: a table may be longer, and as little of it be read
        if name in _STEPS.get(op.task.id, ()):
            continue
        larger = Shape(dims={**dims, name: size * 2}, dtype=dtype)
        assert op.task.flops(larger) >= op.task.flops(small) >= 0
        assert op.task.bytes(larger) >= op.task.bytes(small) > 0
    doubled = Shape(dims={name: size * 2 for name, size in dims.items()}, dtype=dtype)
    assert op.task.bytes(doubled) > op.task.bytes(small) or op.task.id == "scalar_tensor"


_STEPS = {"im2col": ("K", "D", "S")}
"""Dims that leave less to do: of wider windows, and of such that are further apart, there are fewer."""


def test_visible_production_and_distributions_are_enough_to_choose_from(op: Operator) -> None:
    assert 3 <= len(op.task.visible) <= 6
    computes = op.task.kind not in (Kind.CREATION, Kind.RANDOM, Kind.VIEW)
    assert len(op.task.production) >= 2 * computes
    assert not [dims for dims in op.task.production if dims in op.task.visible]
    assert len(op.task.distributions) > 1 or not computes
    assert not op.task.allow_reduced_precision


def test_every_production_shape_names_its_model() -> None:
    declarations = [Path(source.origin) / "task.yaml" for source in TASKS.values()]
    families = {path for own in declarations for path in own.parent.parent.glob("*.family.yaml")}
    for path in {*declarations, *families}:
        text = path.read_text(encoding="utf-8")
        shapes = yaml.safe_load(text).get("production", [])
        lines = [line for line in text.partition("production:")[2].splitlines() if line.lstrip().startswith("- {")]
        assert len(lines) >= len(shapes), path
        assert all(re.search(r"# .*[A-Z]\w+", line) for line in lines[: len(shapes)]), path
