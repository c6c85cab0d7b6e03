from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from kernelarena.report.markdown import LIMIT
from kernelarena.report.pages import Page, Section, html, markdown, plain
from tests.report import hostile


def page(**fields) -> Page:
    rows = [("softmax", "mi300", "4"), ("layer-norm", "h100", "12")]
    section = Section("Slower", ("kernel", "platform", "time"), rows, "Why.", numeric=frozenset({"time"}))
    empty = Section("Faster", ("kernel",), [])
    return Page(**{"title": "Two runs", "sentences": ["One is slower."], "sections": [section, empty], **fields})


def printed(told: Page, width: int = 100) -> str:
    stream = io.StringIO()
    plain.write(told, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


@pytest.mark.parametrize("write", [markdown.render, html.render, printed])
def test_every_form_has_what_is_shown_and_nothing_empty(write):
    text = write(page(warnings=["Mind the seed."], footer="base and new"))
    for word in (
        "Two runs",
        "One is slower.",
        "Mind the seed.",
        "softmax",
        "mi300",
        "layer-norm",
        "12",
        "base and new",
    ):
        assert word in text
    assert "Faster" not in text


def test_markdown_sets_numbers_to_the_right_and_folds_what_is_secondary():
    text = markdown.render(page())
    assert "| kernel | platform | time |\n| --- | --- | --: |\n| softmax | mi300 | 4 |" in text
    folded = page(sections=[Section("Other", ("a",), [("x",)], secondary=True)])
    assert "<details><summary>Other (1)</summary>\n\n| a |\n| --- |\n| x |\n\n</details>" in markdown.render(folded)


@pytest.mark.parametrize("sections", [1, 3, 14])
def test_markdown_fits_a_comment_however_much_there_is(sections):
    rows = [(f"kernel-{i}" * 5, "d" * 1_000) for i in range(2_000)]
    told = page(sections=[Section(f"S{i}", ("kernel", "detail"), rows) for i in range(sections)], footer="end")
    text = markdown.render(told)
    assert LIMIT // 2 < len(text) <= LIMIT
    assert text.count("more rows.") == sections
    assert text.count("| kernel-0") == sections  # each table shows its first rows
    assert text.endswith("<sub>end</sub>\n")


def test_what_one_table_does_not_need_others_have():
    long = [(f"kernel-{i}", "d" * 200) for i in range(150)]
    short = [("kernel", "d")]
    told = page(
        sections=[Section("A", ("k", "d"), short), Section("B", ("k", "d"), short), Section("C", ("k", "d"), long)]
    )
    assert "more row" not in markdown.render(told)


def test_the_terminal_shows_the_first_rows_within_its_width():
    rows = [(f"kernel-{i}", "word " * 60) for i in range(25)]
    told = page(sections=[Section("S", ("kernel", "detail"), rows)])
    for width in (40, 80, 200):
        text = printed(told, width)
        assert max(map(len, text.splitlines())) <= width
        assert "kernel-19" in text
        assert "kernel-20" not in text
        assert "… and 5 more rows" in " ".join(text.split())


def test_long_texts_are_shown_where_there_is_room():
    told = page(sections=[Section("S", ("a", "why", "b"), [("x", "because", "y")], long=frozenset({"why"}))])
    assert "because" in html.render(told)
    for write in (markdown.render, printed):
        assert "because" not in write(told)
        assert "x" in write(told)
    assert "| a | b |\n| --- | --- |\n| x | y |" in markdown.render(told)


def test_html_cuts_tables_that_no_one_reads(monkeypatch):
    monkeypatch.setattr(html, "MOST_ROWS", 3)
    text = html.render(page(sections=[Section("S", ("kernel",), [(f"k{i}",) for i in range(5)])]))
    assert "k2" in text
    assert "k3" not in text
    assert "… and 2 more rows in the JSON." in text


class _Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("text", [*hostile.TEXTS, hostile.LONG], ids=range(len(hostile.TEXTS) + 1))
def test_what_strangers_wrote_is_read_and_does_nothing(text):
    told = page(
        title=f"a {text[:10_000_000]}",
        sentences=[text],
        warnings=[text],
        footer=text,
        sections=[Section(text, ("kernel", "detail"), [(text, text)], numeric=frozenset({"detail"}))],
    )
    written = html.render(told)
    elements = _Elements()
    elements.feed(written)
    assert elements.tags <= {
        *("html", "head", "meta", "title", "style", "body", "a", "header", "p", "b", "h1", "div", "nav", "ul", "li"),
        *("span", "main", "section", "h2", "small", "table", "thead", "tbody", "tr", "th", "td", "footer"),
    }
    assert not any(name.startswith("on") for name in elements.attributes)
    marked = markdown.render(told)
    shown = printed(told)
    for form in (written, marked, shown):
        assert len(form) < 120_000
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", form)
    assert "<script" not in marked
    assert not re.search(r"(?<!\\)\[z?\]\(|(?<![\w<>-])@\w", marked)
    assert marked.count("\n| ") == 3  # a table of one row, whatever is in it
