from __future__ import annotations

import re

import pytest

from kernelarena.report.palette import light, painted


def test_colours_are_written_out_wherever_they_are_named():
    spec = {"mark": {"color": "var(--pass)"}, "range": ["var(--c1)", "none"], "width": 3}
    assert painted(spec) == {"mark": {"color": light()["pass"]}, "range": [light()["c1"], "none"], "width": 3}
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in light().values())


def test_a_colour_that_nobody_defined_is_a_bug():
    with pytest.raises(KeyError):
        painted({"color": "var(--nonsense)"})
