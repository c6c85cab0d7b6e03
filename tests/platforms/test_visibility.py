"""Tracing a device back through the variables that show devices."""

import pytest

from kernelarena.platforms.visibility import Visibility, unreadable

TWO = Visibility((("DRIVER_DEVICES",), ("RUNTIME_DEVICES", "OTHER_DEVICES")))


@pytest.mark.parametrize(
    ("environment", "number", "shown"),
    [
        ({}, 3, "3"),
        ({"DRIVER_DEVICES": "5,7"}, 1, "7"),
        ({"DRIVER_DEVICES": " 5, GPU-ab12 "}, 1, "GPU-ab12"),
        ({"RUNTIME_DEVICES": "2,4"}, 0, "2"),
        ({"OTHER_DEVICES": "2,4"}, 1, "4"),
        ({"RUNTIME_DEVICES": "2,4", "OTHER_DEVICES": "9"}, 1, "4"),
        ({"RUNTIME_DEVICES": "1", "DRIVER_DEVICES": "5,7"}, 0, "7"),
        ({"RUNTIME_DEVICES": "GPU-cd34", "DRIVER_DEVICES": "5,7"}, 0, "GPU-cd34"),
        ({"RUNTIME_DEVICES": "", "DRIVER_DEVICES": "5,7"}, 0, "5"),
        ({"DRIVER_DEVICES": "0.1,1.0"}, 1, "1.0"),
    ],
)
def test_a_number_is_traced_back_to_what_the_driver_calls_the_device(environment, number, shown):
    assert TWO.only(number, "", environment) == {"DRIVER_DEVICES": shown}


def test_a_device_with_a_name_needs_no_tracing():
    assert TWO.only(9, "GPU-ab12", {"DRIVER_DEVICES": "5"}) == {"DRIVER_DEVICES": "GPU-ab12"}


def test_more_than_is_shown_cannot_be_meant():
    with pytest.raises(RuntimeError, match="DRIVER_DEVICES='5,7' shows no device of number 2"):
        TWO.only(2, "", {"DRIVER_DEVICES": "5,7"})


@pytest.mark.parametrize(
    ("value", "odd"),
    [
        ("0", None),
        ("3, 1", None),
        ("0.1,1.0", None),
        ("GPU-ab12,MIG-7f", None),
        ("0,none", "none"),
        ("0,,1", ""),
        ("1;2", "1;2"),
    ],
)
def test_an_entry_that_no_runtime_can_read_is_found(value, odd):
    assert unreadable(value) == odd
