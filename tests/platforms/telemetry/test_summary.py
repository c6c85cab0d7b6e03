import pytest

from kernelarena.platforms.telemetry import Facts, Reading, Sample, Span, Throttle, summarise, throttled
from kernelarena.platforms.telemetry.schema import READING_FIELDS

FACTS = Facts(source="test", name="a device", pci="0000:01:00.0")
MS = 1_000_000
HOT = (Throttle.THERMAL,)


def at(ms, **values):
    return Sample(ms * MS, 0, Reading(**values))


def test_only_samples_of_the_interval_count():
    samples = [at(t, power_w=float(t), memory_used_bytes=t) for t in range(0, 60, 10)]
    found = summarise(samples, 10 * MS, 30 * MS, FACTS)
    assert (found.samples, found.power_w, found.memory_used_bytes) == (3, Span(10, 20, 30), 30)
    assert found.temperature_c is None


def test_errors_are_counted_across_the_interval():
    counts = [5, 5, 6, 6, 8, 9]
    samples = [at(10 * i, ecc_corrected=n, ecc_uncorrected=0) for i, n in enumerate(counts)]
    found = summarise(samples, 15 * MS, 35 * MS, FACTS)
    assert (found.ecc_corrected, found.ecc_uncorrected) == (3, 0)  # 5 at 10 ms, 8 at 40 ms


def test_a_sample_tells_of_the_time_before_it():
    samples = [at(0, throttle=HOT), at(10, throttle=()), at(20, throttle=HOT), at(30, throttle=())]
    assert throttled(samples, 11 * MS, 15 * MS, FACTS) == [HOT]
    assert throttled(samples, 1 * MS, 9 * MS, FACTS) == [()]
    assert throttled(samples, 31 * MS, 39 * MS, FACTS) is None


def test_a_device_that_tells_late_is_listened_to_longer():
    samples = [at(10 * i, throttle=HOT if i == 8 else ()) for i in range(20)]
    late = Facts(source="", name="", pci="", throttle_lag_s=0.05)
    assert HOT not in throttled(samples, 21 * MS, 29 * MS, FACTS)
    assert HOT in throttled(samples, 21 * MS, 35 * MS, late)
    assert HOT not in throttled(samples, 101 * MS, 105 * MS, late)


def test_shares_of_throttling():
    samples = [at(10 * i, throttle=HOT if i % 2 else ()) for i in range(5)]
    assert summarise(samples, 0, 30 * MS, FACTS).throttled == {Throttle.THERMAL: 0.5}
    assert summarise([at(0), at(10)], 0, 10 * MS, FACTS).throttled is None
    assert summarise([at(0, throttle=()), at(10, throttle=())], 0, 10 * MS, FACTS).throttled == {}


def test_a_sample_survives_its_way_through_json():
    sample = Sample(12, 3, Reading(power_w=1.5, throttle=HOT, memory_used_bytes=7))
    assert Sample.from_row(sample.to_row()) == sample
    assert Sample.from_row(Sample(1, 0, Reading()).to_row()).reading == Reading()


@pytest.mark.parametrize(
    "row", [[], [1, 2], ["x", 1, *[None] * len(READING_FIELDS)], [1, 2, *[3] * len(READING_FIELDS)]]
)
def test_what_is_no_sample_is_refused(row):
    with pytest.raises(ValueError, match="not a"):
        Sample.from_row(row)
