"""Overloads that only devices have: the persona answers them as the device would."""

from __future__ import annotations

import pytest
import torch

from kernelarena.platforms.persona.ledger import Ledger
from kernelarena.platforms.persona.observer import Observer


@pytest.mark.skipif(not hasattr(torch.ops.aten.mm, "dtype"), reason="this torch has no mm with an output dtype")
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
