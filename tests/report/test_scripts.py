from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from kernelarena.report import scripts
from tests.report import hostile


def test_the_library_is_one_script_that_offers_one_thing():
    library = scripts.library()
    assert re.search(r"window\.vegaEmbed ?= ?[\w$]+;\s*$", library)
    assert "</script" not in library
    assert not re.search(r"^\s*import[ {]", library, re.MULTILINE)


def test_our_scripts_are_all_there_in_their_order():
    ours = scripts.ours()
    places = [
        ours.index(word) for word in ("const Address", "class Cells", "class Charts", "const Details", "new Cells")
    ]
    assert places == sorted(places)
    assert ours.startswith('"use strict";')


@pytest.mark.parametrize("text", [*hostile.TEXTS[:8], "<!--<script>", "\u2028", "</SCRIPT >"])
def test_no_datum_ends_the_element_it_is_in(text):
    written = scripts.data("charts", {text: [text]})
    inner = re.fullmatch(r'<script type="application/json" id="charts">(.*)</script>', written, re.DOTALL)[1]
    assert "<" not in inner
    assert json.loads(inner) == {text: [text]}


def test_the_policy_names_what_may_run_and_nothing_else():
    digest = base64.b64encode(hashlib.sha256(b"a()").digest()).decode()
    assert f"script-src 'sha256-{digest}';" in scripts.policy("a()")
    assert "script-src 'none';" in scripts.policy()
    assert "unsafe-eval" not in scripts.policy("a()")
    assert "http" not in scripts.policy("a()")
