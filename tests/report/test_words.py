from __future__ import annotations

import re

import pytest

from kernelarena.report import words
from kernelarena.spec import Evidence, Family, Gate, Reason, ReasonGroup, Status


@pytest.mark.parametrize(
    ("table", "vocabulary"),
    [
        (words.SIGN, Status),
        (words.STATUS, Status),
        (words.LETTER, Evidence),
        (words.EVIDENCE, Evidence),
        (words.CLAIM, Evidence),
        (words.REACHED, Evidence),
        (words.CAVEAT, Evidence),
        (words.GATE, Gate),
        (words.FAMILY, Family),
        (words.GROUP, ReasonGroup),
        (words.MEANING, Reason),
        (words.ADVICE, Reason),
    ],
)
def test_no_word_of_the_vocabulary_is_without_its_explanation(table, vocabulary):
    assert list(table) == list(vocabulary)
    assert len({str(text) for text in table.values()}) == len(table), "two words that mean the same are one too many"


def test_signs_can_be_told_apart_without_colour():
    signs = [*words.SIGN.values(), words.PENDING, words.HOME]
    assert len(set(signs)) == len(signs)
    assert all(len(sign) == 1 for sign in signs)


@pytest.mark.parametrize("evidence", [Evidence.COMPILED, Evidence.EMULATED])
def test_only_what_ran_on_the_chip_is_said_to_work(evidence):
    text = " ".join([*words.CLAIM[evidence], words.REACHED[evidence], words.CAVEAT[evidence], words.EVIDENCE[evidence]])
    assert not re.search(r"\bworks?\b", text)
