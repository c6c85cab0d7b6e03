import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.errors import InputError
from kernelarena.protocol.timing import RULES, Estimate, FixedCount, Precision, Progress, Stop, stopping_rule


def progress(kept, dropped=0, seconds=0.0, median=0.0, ratio=0.0):
    def estimate(precision):
        return Estimate(1.0, 1 - precision, 1 + precision, 0.99, kept)

    return Progress(kept, dropped, seconds, lambda: (estimate(median), estimate(median / 2), estimate(ratio)))


def unasked(kept, dropped=0, seconds=0.0):
    def fail():
        raise AssertionError("intervals were asked for")

    return Progress(kept, dropped, seconds, fail)


def test_a_fixed_count_is_that_many():
    rule = FixedCount(100)
    assert rule.decide(unasked(0)) == 100
    assert rule.decide(unasked(70, 30)) == 30
    assert rule.decide(unasked(100)) is Stop.COMPLETE
    assert rule.decide(unasked(99, 401)) is Stop.THROTTLED


def test_nothing_is_decided_below_the_least_number():
    rule = Precision(least=100, seconds=1.0)
    assert rule.decide(unasked(0)) == 100
    assert rule.decide(unasked(60, 40)) == 40
    assert rule.decide(unasked(50, seconds=99.0)) == 50  # a slow kernel gets its samples all the same


@pytest.mark.parametrize(("median", "ratio"), [(0.0099, 0.0049), (0.0, 0.0), (0.002, 0.001)])
def test_narrow_intervals_end_it(median, ratio):
    assert Precision().decide(progress(100, median=median, ratio=ratio)) is Stop.PRECISE


@pytest.mark.parametrize(("median", "ratio"), [(0.0101, 0.0), (0.0, 0.0051)])
def test_one_wide_interval_keeps_it_going(median, ratio):
    assert isinstance(Precision().decide(progress(100, median=median, ratio=ratio)), int)


def test_batches_grow_as_the_width_lets_expect():
    rule = Precision(samples=100_000)
    assert abs(rule.decide(progress(1000, median=0.012)) - 440) <= 1  # (0.012 / 0.01)² - 1
    assert rule.decide(progress(1000, median=0.5)) == 1000  # at most doubled
    assert rule.decide(progress(100, median=0.0101)) == 25  # and not one by one


def test_caps_end_it():
    rule = Precision(samples=500, seconds=2.0)
    assert rule.decide(progress(500, median=0.5)) is Stop.SAMPLE_CAP
    assert rule.decide(progress(300, 200, median=0.5)) is Stop.SAMPLE_CAP
    assert rule.decide(progress(450, median=0.5)) == 50
    assert rule.decide(progress(200, seconds=2.0, median=0.5)) is Stop.TIME_CAP
    assert rule.decide(progress(200, seconds=1.9, median=0.5)) == 10  # as many as the time that is left allows


def test_throttling_ends_it_and_slowness_does_not():
    rule = Precision(samples=500, seconds=2.0)
    assert rule.decide(unasked(99, 401)) is Stop.THROTTLED
    assert rule.decide(unasked(99, 1, seconds=2.1)) is Stop.THROTTLED
    assert rule.decide(unasked(99, 0, seconds=2.1)) == 1


@given(
    least=st.integers(20, 200),
    extra=st.integers(0, 2000),
    pace=st.floats(1e-6, 1e-1),
    width=st.floats(0.0, 10.0),
    drop=st.sampled_from([0.0, 0.1, 0.9, 1.0]),
)
def test_it_always_ends_within_its_caps(least, extra, pace, width, drop):
    rule = Precision(least=least, samples=least + extra)
    kept = dropped = 0
    for _ in range(10_000):
        taken = kept + dropped
        answer = rule.decide(progress(kept, dropped, taken * pace, median=width / max(kept, 1) ** 0.5))
        if isinstance(answer, Stop):
            break
        assert answer >= 1
        lost = round(answer * drop)
        kept, dropped = kept + answer - lost, dropped + lost
    else:
        raise AssertionError("it never ended")
    assert (kept >= least) is (answer is not Stop.THROTTLED)
    assert kept + dropped <= rule.samples + least


def test_rules_by_name():
    assert set(RULES) == {"fixed", "precision"}
    assert stopping_rule("fixed", samples=30) == FixedCount(30)
    with pytest.raises(InputError, match=r"no stopping rule 'precison'; .*precision"):
        stopping_rule("precison")
    with pytest.raises(InputError, match=r"stopping rule 'fixed': .*percent"):
        stopping_rule("fixed", percent=3)
    with pytest.raises(InputError, match="at least 100 and at most 10 samples"):
        stopping_rule("precision", samples=10)


@pytest.mark.parametrize("settings", [{"median": 0.0}, {"ratio": -1}, {"seconds": 0}, {"least": 0}])
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueError, match=r"must be positive|cannot both be"):
        Precision(**settings)


def test_counts_that_cannot_be():
    with pytest.raises(ValueError, match="cannot be"):
        FixedCount(0)
