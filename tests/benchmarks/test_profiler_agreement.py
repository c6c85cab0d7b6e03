"""What profilers tell, read and set beside our times; no duration is asserted, and no agreement."""

import json

import pytest

from benchmarks.profiled import launches as traced
from benchmarks.profiler_agreement import _WARM_UPS, Agreement, ProfilerFailed, launches, medians

HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","Section Name","Metric Name","Metric Unit","Metric Value"\n'
)


def line(number, unit, value):
    return (
        f'"{number}","71","python3","127.0.0.1","turn","1","13","(128, 1, 1)","(256, 1, 1)","0","9.0",'
        f'"Command line profiler metrics","gpu__time_duration.sum","{unit}","{value}"\n'
    )


def test_the_difference_is_a_share_of_what_the_profiler_tells():
    row = Agreement("loop", 1, ours=10.3e-6, profiler=10e-6, ncu=10.3e-6)
    assert row.off == {"profiler": pytest.approx(0.03), "ncu": 0.0}


@pytest.mark.parametrize("unit", ["nsecond", "ns"])
def test_durations_are_read_from_the_table_behind_the_tools_own_words(unit):
    log = "==PROF== Connected to process 71\n" + HEADER + line(0, unit, "3,456") + line(1, unit, "2980000")
    assert launches(log + "==PROF== Disconnected\n") == [pytest.approx(3.456e-6), pytest.approx(2.98e-3)]


def test_a_tool_that_may_not_look_says_why():
    with pytest.raises(ProfilerFailed, match="no permission to access"):
        launches("==PROF== Connected to process 71\n==ERROR== The user has no permission to access the counters\n")


def test_launches_of_others_in_a_trace_do_not_count(tmp_path):
    events = [
        {"ph": "X", "cat": "kernel", "name": "turn", "ts": 30.0, "dur": 7.0},
        {"ph": "X", "cat": "kernel", "name": "fill", "ts": 5.0, "dur": 90.0},
        {"ph": "X", "cat": "kernel", "name": "double", "ts": 10.0, "dur": 5.5},
        {"ph": "X", "cat": "user_annotation", "name": "a timed call", "ts": 1.0, "dur": 50.0},
        {"ph": "M", "name": "process_name"},
    ]
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": events}))
    assert list(traced(tmp_path / "trace.json", host=False)) == [pytest.approx(5.5e-6), pytest.approx(7e-6)]
    assert list(traced(tmp_path / "trace.json", host=True)) == [pytest.approx(50e-6)]


def test_warm_ups_do_not_count_and_a_missing_launch_is_noticed():
    first, second = [9.0] * _WARM_UPS + [1.0, 2.0, 3.0], [9.0] * _WARM_UPS + [4.0, 5.0, 5.0]
    assert medians(first + second, 2, _WARM_UPS + 3) == [2.0, 5.0]
    with pytest.raises(ProfilerFailed, match="25 launches were seen of 26"):
        medians((first + second)[1:], 2, _WARM_UPS + 3)
