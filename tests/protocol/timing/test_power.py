"""What the protocol promises: at most 1 % false claims of 200, and 95 % of differences of 3 % found."""

import pytest

from benchmarks.timing_power import MODELS, one, outcome
from kernelarena.protocol.timing import AGENT_KERNEL_ARENA, DEFAULT

PAIRS = 200
HARD = ("heavy-tailed", "drifting", "bimodal", "jittery", "placed")


@pytest.mark.parametrize("model", HARD)
def test_identical_kernels_are_told_apart_in_one_of_a_hundred_pairs_at_most(model):
    found = outcome(model, 1.0, PAIRS)
    assert found.faster + found.slower <= PAIRS // 100


@pytest.mark.parametrize("model", HARD)
@pytest.mark.parametrize(("slowdown", "side"), [(1.03, "slower"), (1 / 1.03, "faster")])
def test_a_difference_of_three_per_cent_is_found_and_never_with_the_wrong_sign(model, slowdown, side):
    found = outcome(model, slowdown, PAIRS // 2, seed=1)
    assert getattr(found, side) >= 0.95 * PAIRS // 2
    assert found.faster + found.slower == getattr(found, side)


def test_a_chip_that_flickers_costs_samples_and_misleads_nobody():
    found = outcome("flickering", 1.0, 40)
    assert found.faster + found.slower == 0
    assert found.samples > 300


def test_the_models_are_hard_enough_to_fool_a_simpler_protocol():
    """A hundred runs of the one, then of the other: a chip that heats up makes the second look slower, every time."""
    naive = [one(MODELS["drifting"], 1e-4, 1.0, seed, AGENT_KERNEL_ARENA).speedup for seed in range(20)]
    ours = [one(MODELS["drifting"], 1e-4, 1.0, seed, DEFAULT).speedup for seed in range(20)]
    assert all(ratio.value < 0.99 for ratio in naive)
    assert all(0.995 < ratio.value < 1.005 for ratio in ours)
