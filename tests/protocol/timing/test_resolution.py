import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.protocol.timing import calls_per_sample


@pytest.mark.parametrize(
    ("seconds", "step", "calls"),
    [
        (3e-6, 32e-9, 2),
        (3e-6, 1.024e-6, 35),
        (1e-3, 32e-9, 1),
        (1e-3, 0.0, 1),
        (1e-9, 1e-6, 1000),  # no more than the most
        (1e-6, 1e-8, 1),  # exactly the share
    ],
)
def test_short_kernels_are_timed_in_batches(seconds, step, calls):
    assert calls_per_sample(seconds, step) == calls


@given(st.floats(1e-7, 1), st.floats(1e-9, 1e-6))
def test_one_step_is_a_small_share_of_a_sample_and_one_call_less_would_not_do(seconds, step):
    calls = calls_per_sample(seconds, step, most=10**9)
    assert step <= 0.01 * seconds * calls * (1 + 1e-6)
    assert calls == 1 or step > 0.01 * seconds * (calls - 1) * (1 - 1e-6)


@pytest.mark.parametrize(("seconds", "step", "share"), [(0, 1e-9, 0.1), (1, -1e-9, 0.1), (1, 1e-9, 0)])
def test_what_cannot_be_is_refused(seconds, step, share):
    with pytest.raises(ValueError, match="can be"):
        calls_per_sample(seconds, step, share)
