from __future__ import annotations

from pathlib import Path

from kernelarena.cli import github


def test_elsewhere_there_is_no_checkout(monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert github.root() is None


def test_the_checkout(monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", "/checkout")
    assert github.root() == Path("/checkout")


def test_a_summary_is_added_to_and_annotations_are_no_result(monkeypatch, tmp_path, capsys):
    place = tmp_path / "summary.md"
    place.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    github.publish("## after", ["::error::x"])
    assert place.read_text() == "before\n## after\n"
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "::error::x\n")


def test_a_summary_that_would_be_dropped_as_a_whole_is_not_added(monkeypatch, tmp_path):
    place = tmp_path / "summary.md"
    place.write_text("x" * (1 << 20))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    github.publish("## after")
    assert "after" not in place.read_text()


def test_a_summary_that_cannot_be_written_fails_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    github.publish("## after")
    assert capsys.readouterr().err.startswith("::warning::the step's summary cannot be written: ")
