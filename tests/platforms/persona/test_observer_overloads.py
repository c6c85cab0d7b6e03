"""What only devices have, overloads and memory: the persona answers as the device would, or says that it cannot."""

from __future__ import annotations

import pytest
import torch

from kernelarena.platforms.emulator.fault import Unsupported
from kernelarena.platforms.persona.ledger import Ledger
from kernelarena.platforms.persona.observer import Observer

lacking = pytest.mark.skipif(not hasattr(torch.ops.aten.mm, "dtype"), reason="this torch has no such overloads")


@lacking
def test_a_small_product_with_an_output_dtype_of_its_own_is_answered() -> None:
    left, right = torch.zeros(4, 8, dtype=torch.bfloat16), torch.zeros(8, 6, dtype=torch.bfloat16)
    observer = Observer(Ledger(), real=False)
    with observer, observer.call() as observed:
        made = torch.mm(left, right, out_dtype=torch.float32)
        summed = torch.zeros(4, 6)
        torch.addmm(summed, left, right, out_dtype=torch.float32, out=summed)
    assert (made.dtype, tuple(made.shape)) == (torch.float32, (4, 6))
    assert made.count_nonzero() == 0
    assert {name: use.flops for name, use in observed.operators.items()} == {
        "aten::mm": 2 * 4 * 8 * 6,
        "aten::addmm": 2 * 4 * 8 * 6,
    }


@lacking
def test_where_launches_run_they_keep_what_rounding_to_the_factors_dtype_would_lose() -> None:
    left, right = torch.randn(2, 4, 64, dtype=torch.bfloat16), torch.randn(2, 64, 6, dtype=torch.bfloat16)
    exact, start = left.double() @ right.double(), torch.ones(4, 6)
    out = torch.zeros(4, 6)
    with Observer(Ledger(), real=True):
        made = torch.mm(left[0], right[0], out_dtype=torch.float32)
        batch = torch.bmm(left, right, out_dtype=torch.float32)
        added = torch.addmm(start, left[0], right[0], out_dtype=torch.float32, beta=2)
        torch.addmm(start, left[0], right[0], out_dtype=torch.float32, out=out)
    for found, expected in ((made, exact[0]), (batch, exact), (added, exact[0] + 2), (out, exact[0] + 1)):
        assert found.dtype is torch.float32
        torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)


def test_what_the_host_does_not_have_otherwise_is_refused_as_torch_refuses_it() -> None:
    with Observer(Ledger(), real=True), pytest.raises(NotImplementedError, match="_thnn_fused_gru_cell"):
        torch.ops.aten._thnn_fused_gru_cell(*[torch.zeros(2, 6), torch.zeros(2, 6), torch.zeros(2, 2)])


@pytest.mark.parametrize(
    ("memory", "error"), [(None, torch.OutOfMemoryError), (1 << 44, torch.OutOfMemoryError), (1 << 46, Unsupported)]
)
def test_memory_that_only_the_chip_has_is_no_fault_of_the_kernel(memory: int | None, error: type[Exception]) -> None:
    with Observer(Ledger(), real=True, memory=memory), pytest.raises(error):
        torch.empty(1 << 45, dtype=torch.uint8)
