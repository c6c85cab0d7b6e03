from __future__ import annotations

import pytest

from kernelarena.metrics import Rate


def test_a_rate_prints_both_of_its_numbers():
    assert str(Rate(9, 12)) == "9/12"
    assert Rate(9, 12).share == 0.75
    assert Rate(0, 3).share == 0.0


@pytest.mark.parametrize(("passed", "total"), [(2, 1), (-1, 1), (0, -1)])
def test_an_impossible_rate_is_refused(passed, total):
    with pytest.raises(ValueError, match="not a share"):
        Rate(passed, total)
