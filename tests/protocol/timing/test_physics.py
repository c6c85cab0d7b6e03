import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.platforms.catalogue import load
from kernelarena.protocol.timing import Estimate, Limit, Work, impossible, least_time
from kernelarena.spec.platform import Memory, Platform, RayPlacement, Source

MEGA = 1e6


def chip(cache=50 * MEGA, peaks=None, memory=True):
    return Platform(
        id="chip",
        title="A chip",
        vendor="nobody",
        backend="none",
        arch="none",
        ray=RayPlacement(resource="platform:chip"),
        memory=Memory(bytes=10**10, bandwidth=1e12, cache_bytes=None if cache is None else int(cache))
        if memory
        else None,
        peak_flops={"float32": 1e13, "float16": 1e14} if peaks is None else peaks,
        source=(Source(title="nowhere"),),
    )


def took(seconds, width=0.01):
    return Estimate(seconds, seconds * (1 - width), seconds * (1 + width), 0.99, 100)


def test_large_operands_have_to_come_through_memory():
    bound = least_time(Work(flops=0, bytes=400 * MEGA), chip(), flushed=True)
    assert (bound.seconds, bound.limit, bound.resident) == (pytest.approx(4e-4), Limit.MEMORY, False)
    assert bound.detail == "400 MB through memory at 1 TB/s"


def test_after_a_flush_only_what_was_written_may_stay_in_the_cache():
    work = Work(flops=0, bytes=60 * MEGA, written=20 * MEGA)
    assert least_time(work, chip(), flushed=True).seconds == pytest.approx(40e-6)
    large = Work(flops=0, bytes=600 * MEGA, written=300 * MEGA)
    assert least_time(large, chip(), flushed=True).seconds == pytest.approx(550e-6)  # no more than it holds


def test_without_a_flush_what_fits_needs_no_memory_at_all():
    work = Work(flops=0, bytes=40 * MEGA, written=20 * MEGA)
    bound = least_time(work, chip(), flushed=False)
    assert (bound.seconds, bound.resident) == (0.0, True)
    assert impossible(took(1e-9), bound) == ""
    assert least_time(Work(flops=0, bytes=80 * MEGA), chip(), flushed=False).seconds == pytest.approx(30e-6)


def test_a_cache_of_unknown_size_may_hold_anything():
    work = Work(flops=0, bytes=400 * MEGA, written=100 * MEGA)
    assert least_time(work, chip(cache=None), flushed=True).seconds == pytest.approx(300e-6)
    assert least_time(work, chip(cache=None), flushed=False).seconds == 0.0


def test_arithmetic_takes_the_fastest_unit_and_the_cleverest_algorithm():
    bound = least_time(Work(flops=4e12, bytes=0), chip(), flushed=True)
    assert (bound.seconds, bound.limit) == (pytest.approx(1e-2), Limit.COMPUTE)


def test_an_empty_kernel_bounds_every_kernel():
    bound = least_time(Work(flops=1, bytes=1), chip(), flushed=True, launch=2e-6)
    assert (bound.seconds, bound.limit) == (2e-6, Limit.LAUNCH)
    assert "an empty kernel" in impossible(took(1e-6), bound)


def test_a_chip_of_which_nothing_is_known_bounds_nothing():
    assert least_time(Work(flops=1e15, bytes=1e15), chip(peaks={}, memory=False), flushed=True) is None


def test_without_a_bandwidth_memory_bounds_nothing():
    unknown = chip(peaks={}).model_copy(update={"memory": Memory(bytes=10**10)})
    assert least_time(Work(flops=1e15, bytes=1e15), unknown, flushed=True) is None


def test_only_what_is_surely_too_fast_is_impossible():
    bound = least_time(Work(flops=0, bytes=400 * MEGA), chip(), flushed=True)
    assert impossible(took(4.1e-4), bound) == ""
    assert impossible(took(3.98e-4, width=0.01), bound) == ""  # the interval reaches the bound
    why = impossible(took(1e-5), bound)
    assert why.startswith("10 µs is less than the 400 µs")
    assert "400 MB through memory" in why


@given(
    flops=st.floats(0, 1e15),
    size=st.floats(0, 1e10),
    written=st.floats(0, 1),
    cache=st.one_of(st.none(), st.floats(1e6, 1e9)),
)
def test_a_flush_never_makes_more_possible_and_neither_does_more_work(flops, size, written, cache):
    work = Work(flops, size, size * written)
    more = Work(flops * 2, size * 2, size * written)
    flushed = least_time(work, chip(cache), flushed=True).seconds
    assert least_time(work, chip(cache), flushed=False).seconds <= flushed
    assert flushed <= least_time(more, chip(cache), flushed=True).seconds
    assert flushed <= max(size / 1e12, flops / 1e13)  # never above the roofline of the slowest dtype


def test_no_shipped_chip_is_accused_of_its_own_roofline():
    """A kernel at 100 % of the datasheet's bandwidth or peak is extraordinary, and possible."""
    for platform in load().values():
        if platform.memory is None:
            continue
        for dtype, peak in platform.peak_flops.items():
            work = Work(flops=1e12, bytes=1e9, written=5e8)
            roofline = max(work.flops / peak, work.bytes / platform.memory.bandwidth)
            for flushed in (True, False):
                bound = least_time(work, platform, flushed=flushed)
                assert impossible(took(roofline), bound) == "", (platform.id, dtype)
