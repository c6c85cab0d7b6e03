"""A record that nothing can be taken out of unnoticed."""

import pytest

from kernelarena.platforms.persona.journal import Journal


def written(*entries):
    journal = Journal()
    for entry in entries:
        journal.add(entry)
    return journal


def test_it_holds_what_was_written_in_order():
    assert list(written("a", ("b", 2), "a")) == ["a", ("b", 2), "a"]


@pytest.mark.parametrize("entries", [(), ("a",), ("a", ("b", 2), "a")])
def test_it_is_intact_however_often_one_asks(entries):
    journal = written(*entries)
    assert journal.intact
    assert journal.intact
    journal.add("more")
    assert journal.intact


@pytest.mark.parametrize(
    "tamper",
    [
        lambda entries: entries.clear(),
        lambda entries: entries.pop(0),
        lambda entries: entries.append("b"),
        lambda entries: entries.reverse(),
        lambda entries: entries.__setitem__(0, ("a", 2)),
    ],
    ids=["cleared", "one taken out", "one put in", "turned round", "one replaced"],
)
def test_what_is_changed_behind_its_back_is_seen(tamper):
    journal = written(("a", 1), ("b", 2))
    tamper(journal._entries)
    assert not journal.intact
