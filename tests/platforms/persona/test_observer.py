"""What framework operators are charged with, and what costs nothing."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
import torch

from kernelarena.platforms import catalogue
from kernelarena.platforms.persona import persona
from kernelarena.platforms.persona.memory import lazy_zeros
from tests.platforms.persona.forked import forked

pytest.importorskip("triton")
H100 = catalogue.load()["h100"]


def observed(body, tmp_path: Path, check) -> None:
    def child() -> None:
        with persona(H100, folder=tmp_path, scratch=tmp_path, emit=lambda event: None) as chip:
            x = lazy_zeros((64, 1024), (1024, 1), torch.float32)
            chip.ledger.enter(x, device=True, argument=True)
            with chip.observer.call() as seen:
                returned = body(x)
            check(seen.summary([returned]))

    forked(child)


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x.view(-1)[3:].unsqueeze(0).expand(4, -1),
        lambda x: x.t().reshape(-1),
        lambda x: torch.zeros_like(x).fill_(3).zero_(),
        lambda x: x.half().float().contiguous().clone(),
        lambda x: torch.cat([x, x]).to(torch.bfloat16).T.contiguous(),
        lambda x: torch.nn.functional.pad(x, (0, 24)),
        lambda x: torch.empty_like(x).copy_(x),
        lambda x: x.detach().requires_grad_().view(-1),
        lambda x: x[0, 0].item(),
        lambda x: torch.isfinite(x).all().item() and x.clone(),
        lambda x: x.clone() if float((x * 2).max()) >= 0 else None,
    ],
)
def test_views_allocations_fills_copies_and_casts_are_free(body, tmp_path):
    def check(summary):
        assert summary["operators"] == {}

    observed(body, tmp_path, check)


@pytest.mark.parametrize(
    ("body", "operator", "elements", "flops"),
    [
        (lambda x: torch.softmax(x, -1), "aten::_softmax", 2 * 65536, 0),
        (lambda x: torch.nn.functional.gelu(x), "aten::gelu", 2 * 65536, 0),
        (lambda x: x.sum(), "aten::sum", 65537, 0),
        (lambda x: x @ x.T, "aten::mm", 2 * 65536 + 64 * 64, 2 * 64 * 64 * 1024),
        (lambda x: torch.einsum("mk,nk->mn", x, x), "aten::bmm", 2 * 65536 + 64 * 64, 2 * 64 * 64 * 1024),
        (lambda x: x.mul_(2), "aten::mul_", 2 * 65536, 0),
        (lambda x: torch.exp(x), "aten::exp", 2 * 65536, 0),
        (lambda x: torch.exp(x).clone().half().T, "aten::exp", 2 * 65536, 0),
        (lambda x: torch.empty_like(x).copy_(torch.exp(x)), "aten::exp", 2 * 65536, 0),
        (lambda x: [y := torch.exp(x), bool(y[0, 0] > 0)] and y, "aten::exp", 2 * 65536, 0),
        (lambda x: [torch.exp(x)] and x, "aten::exp", 2 * 65536, 0),  # where to, nobody has seen
    ],
)
def test_computing_operators_are_charged_whatever_they_are_called_by(body, operator, elements, flops, tmp_path):
    def check(summary):
        assert summary["operators"] == {operator: {"calls": 1, "elements": elements, "flops": flops}}

    observed(body, tmp_path, check)


def test_values_flow_from_launches_through_memory(tmp_path):
    def child() -> None:
        with persona(H100, folder=tmp_path, scratch=tmp_path, emit=lambda event: None) as chip:
            x = lazy_zeros((64, 1024), (1024, 1), torch.float32)
            chip.ledger.enter(x, device=True, argument=True)

            def derives(make) -> bool:
                with chip.observer.call() as seen:
                    made = make()
                return seen.summary([made])["derived"][0]

            def launched(*tensors):
                chip.observer.launched(tensors, tuning=False)
                return tensors[-1]

            fresh = torch.empty_like
            assert derives(lambda: launched(x, fresh(x)))
            assert derives(lambda: launched(x, fresh(x)).half().view(-1)[:5])
            assert derives(lambda: launched(x, fresh(x)).sum(0))
            assert derives(lambda: fresh(x).copy_(launched(x, fresh(x))))
            assert derives(lambda: (y := launched(x, fresh(x))).copy_(y[:]))  # as a slice is assigned to where it lies
            assert not derives(lambda: (y := fresh(x)).copy_(y[:]))
            assert not derives(lambda: fresh(x))
            assert not derives(lambda: torch.softmax(x, -1))
            assert not derives(lambda: torch.softmax(launched(x), -1))  # a kernel that only read x
            assert not derives(lambda: launched(x, fresh(x)).copy_(torch.softmax(x, -1)))
            assert not derives(lambda: launched(x, fresh(x)).zero_())
            assert not derives(lambda: torch.exp(x, out=launched(x, fresh(x))))
            assert derives(lambda: torch.exp(y := launched(x, fresh(x)), out=y))
            assert derives(lambda: launched(x, fresh(x)).exp_())
            assert not derives(lambda: fresh(launched(x, fresh(x))))
            # What one call launched says nothing of the next call's outputs.
            kept = fresh(x)
            assert derives(lambda: launched(x, kept))
            assert not derives(lambda: kept)

    forked(child)


def test_outputs_in_memory_of_an_earlier_call_are_told(tmp_path):
    def child() -> None:
        with persona(H100, folder=tmp_path, scratch=tmp_path, emit=lambda event: None) as chip:
            buffer = torch.empty(4, 4, device="cuda")
            for turn in range(2):
                x = torch.ones(4, 4)
                chip.ledger.enter(x, device=True, argument=True)
                with chip.observer.call() as seen:
                    outputs = buffer.view(-1), torch.empty_like(x), buffer + 1, x, 3
                assert seen.summary(outputs)["kept"] == [True, False, False, False, False], turn

    forked(child)


def test_the_device_functions_that_were_launched_are_named(tmp_path):
    def child() -> None:
        with persona(H100, folder=tmp_path, scratch=tmp_path, emit=lambda event: None) as chip:
            with chip.observer.call() as seen:
                for name in ("one", "two", "one"):
                    chip.observer.launched([], tuning=False, kernel=name)
                chip.observer.launched([], tuning=True, kernel="three")
            assert seen.summary()["kernels"] == ["one", "two"]

    forked(child)


def test_memory_counts_once_however_often_it_is_handed_to_launches(tmp_path):
    def child() -> None:
        with persona(H100, folder=tmp_path, scratch=tmp_path, emit=lambda event: None) as chip:
            x = lazy_zeros((64, 1024), (1024, 1), torch.float32)
            chip.ledger.enter(x, device=True, argument=True)
            y = torch.empty_like(x)
            with chip.observer.call() as seen:
                for _ in range(5):
                    chip.observer.launched([x, y, y[:3]], tuning=False)
            assert (seen.launches, seen.launched_elements) == (5, 2 * x.numel())
            with chip.observer.call() as seen:
                for row in range(8):
                    chip.observer.launched([x[row], y[row]], tuning=False)
            assert (seen.launches, seen.launched_elements) == (8, 2 * 8 * 1024)

    forked(child)


def test_shapes_of_production_cost_neither_time_nor_memory(tmp_path):
    def child() -> None:
        with persona(H100, folder=tmp_path, scratch=tmp_path, emit=lambda event: None) as chip:
            x = lazy_zeros((1 << 15, 1 << 18), (1 << 18, 1), torch.float32)  # 32 GiB
            chip.ledger.enter(x, device=True, argument=True)
            y = torch.zeros_like(x)
            y = torch.softmax(x + 1, -1).half()
            assert y.shape == x.shape
            assert y.is_cuda
            assert (x[:, :4096] @ x[:, :4096].T).shape == (1 << 15, 1 << 15)
            with pytest.raises(torch.OutOfMemoryError, match="tried to allocate"):
                torch.empty(1 << 40, device="cuda")
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert used < 1 << 20, f"{used} KiB"  # of 200 GiB

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    forked(child)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float8_e4m3fn, torch.bool, torch.int64, torch.bfloat16])
def test_lazy_zeros_are_zeros_of_any_layout(dtype):
    made = lazy_zeros((3, 5), (8, 1), dtype, offset=1)
    assert (made.shape, made.stride(), made.storage_offset(), made.dtype) == ((3, 5), (8, 1), 1, dtype)
    assert not made.float().any()
    assert made.data_ptr() % 16 == dtype.itemsize % 16
    assert lazy_zeros((0, 5), (5, 1), dtype).shape == (0, 5)
    with pytest.raises(MemoryError):
        lazy_zeros((1 << 62,), (1,), dtype)
