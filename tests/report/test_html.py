from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kernelarena import report as package
from kernelarena.report.figures.chart import COLOURS
from kernelarena.report.html import anchor, render
from kernelarena.report.phrases import grid, launched, moment, needs
from kernelarena.report.view import arrange
from kernelarena.spec import Reason, Resources, Status
from tests.report import hostile

VOID = {"meta", "br", "img", "link", "input", "hr", "wbr"}
STYLE = (Path(package.__file__).parent / "templates" / "style.css").read_text()


class Page(HTMLParser):
    """Elements, ids, links and text of a page, and whether its tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problems: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        if len({name for name, _ in attrs}) != len(attrs):
            self.problems.append(f"<{tag}> has an attribute twice")
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()} closes something else")

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts.append(data)
        elif "style" not in self.open:
            self.text += data

    def all(self, tag, **attributes):
        return [
            found
            for name, found in self.elements
            if name == tag and all(value in found.get(key.rstrip("_"), "").split() for key, value in attributes.items())
        ]

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


@pytest.fixture(scope="module")
def html(view):
    return render(view)


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_the_page_is_well_formed(page):
    assert page.problems == []
    assert len(page.ids) == len(set(page.ids))


def test_the_page_asks_nobody_for_anything(page, html):
    assert not page.all("link")
    assert not [a for _, a in page.elements for name in ("src", "srcset", "action", "data", "poster") if name in a]
    assert not re.search(r"url\(|@import", html.partition("</style>")[0])
    assert "default-src 'none'" in _policy(page)
    assert all(a["href"].startswith("#") for a in page.all("a"))


def test_only_scripts_named_by_digest_may_run(page):
    running = [text for text, given in zip(page.scripts, page.all("script"), strict=True) if "type" not in given]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in running]
    (allowed,) = [part.split()[1:] for part in _policy(page).split(";") if part.strip().startswith("script-src")]
    assert allowed == [f"'sha256-{digest}'" for digest in digests]
    assert len(running) == 2, "the charting library and ours"


def test_a_page_without_figures_has_no_charting_library(make):
    found = Page(render(arrange(make.run([], ["rope-half"], ("mi300",)))))
    assert sum(map(len, found.scripts)) < 50_000


def _policy(page):
    (policy,) = [a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    return policy


def test_every_link_leads_somewhere(page):
    targets = {a["href"][1:].partition("?")[0] for a in page.all("a")}
    assert targets <= set(page.ids)


def test_every_cell_is_a_link_with_its_outcome_in_words(page, data):
    cells = {a["href"][1:]: a for a in page.all("a", class_="cell")}
    assert len(cells) == len(data.verdicts)
    for verdict in data.verdicts:
        cell = cells[anchor("cell", verdict.kernel, verdict.platform)]
        assert str(verdict.status) in cell["class"].split()
        words = [verdict.kernel, verdict.platform, verdict.status, verdict.reason or "", verdict.evidence or ""]
        assert all(str(word) in cell["aria-label"] for word in words)


def test_the_first_screen_is_the_answer(page, view):
    text = " ".join(page.text.split())
    places = [text.index(sentence) for sentence in [*view.sentences, view.unknown]]
    assert places == sorted(places)
    assert places[-1] < text.index("add-broadcast")


def test_nothing_is_said_to_work_that_was_never_run(page):
    assert not re.search(r"\bworks\b|\bwork on\b", page.text)


def test_every_table_says_what_its_rows_and_columns_are(page):
    assert all(th.get("scope") in ("row", "rowgroup", "col") for th in page.all("th"))
    assert len(page.all("th", scope="row")) > len(page.all("table"))
    scrolling = page.all("div", class_="scroll")
    assert all(div.get("aria-label") for div in scrolling if div.get("tabindex") == "0"), "a focus stop has a name"


def test_each_failure_has_what_one_needs_to_act(page, view):
    text = " ".join(page.text.split())
    for failure in view.failures:
        assert " ".join(failure.first.detail.split()) in text
        assert failure.reproduce in text
    assert "softmax_kernel[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=1024, num_warps=32)" in text
    assert "2,048limit 1,024" in text
    assert "160 KiBlimit 64 KiB" in text
    assert "The supported fp8 dtypes are ('fp8e5',)" in text, "the log"


def test_the_facts_of_the_run_are_there(page, data):
    for fact in (data.manifest.id, "triton 3.9.0", "seed 4129889", data.manifest.hidden_seed_sha256, "2d2d946-dirty"):
        assert fact in page.text
    assert "examples/generated/broken.jsonl:7" in page.text


def test_it_is_told_where_the_time_went(make):
    went = {"compile": 0.5, "hidden": 61.0}
    cells = [make.verdict("rope-half", platform, duration_s=62, durations=went) for platform in ("cpu", "mi300")]
    text = " ".join(Page(render(arrange(make.data(cells)))).text.split())
    assert "2 min 4 s, summed over workers; of it compile 1.0 s, hidden 2 min 2 s" in text


def test_the_hidden_seed_is_not_there_before_the_run_has_ended(make):
    data = make.data([make.verdict("rope-half", "cpu")], hidden_seed=None, finished=None)
    text = Page(render(arrange(data))).text
    assert "the seed is published when the run ends" in text
    assert "not finished" in text


@pytest.mark.parametrize("text", hostile.TEXTS)
def test_hostile_text_is_shown_as_text(make, page, text):
    html = render(arrange(hostile.run(make, text)))
    html.encode("utf-8")
    found = Page(html)
    assert found.problems == []
    assert {tag for tag, _ in found.elements} <= {tag for tag, _ in page.elements} | {"h5", "details", "summary", "pre"}
    attributes = {name for _, given in found.elements for name in given}
    assert not [name for name in attributes if name.startswith("on")]
    assert all(a["href"].startswith("#") for a in found.all("a"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", html)


def test_ten_megabytes_in_every_field_make_a_page_one_can_open(make):
    assert len(render(arrange(hostile.run(make, hostile.LONG)))) < 2_000_000


def test_markup_in_a_message_can_be_read(make):
    text = Page(render(arrange(hostile.run(make, "<script>alert(1)</script>")))).text
    assert text.count("<script>alert(1)</script>") > 10


@pytest.mark.parametrize("verdicts", [[], ["verdict"], ["failed"], ["unknown"]])
def test_a_page_of_nearly_nothing_is_a_page_still(make, verdicts):
    build = {
        "verdict": lambda: make.verdict("rope-half", "mi300", resources=None, launches=()),
        "failed": lambda: make.failed("rope-half", "mi300", "crash", "", gate=None),
        "unknown": lambda: make.unknown("rope-half", "mi300", Status.SKIPPED, "device-unavailable", ""),
    }
    data = make.data([build[kind]() for kind in verdicts]) if verdicts else make.run([], ["rope-half"], ("mi300",))
    found = Page(render(arrange(data)))
    assert found.problems == []
    assert {a["href"][1:].partition("?")[0] for a in found.all("a")} <= set(found.ids)


def test_platforms_and_kernels_that_the_run_does_not_know_are_shown_by_name(make):
    data = make.data([make.failed("rope-half", "mi300", "crash", "x")])
    bare = data.model_copy(update={"platforms": {}, "kernels": {}, "tasks": {}})
    assert "rope-half" in Page(render(arrange(bare))).text


def test_needs_name_the_limit_only_where_it_is_passed(make):
    chip = make.platforms["mi300"]
    resources = Resources(threads_per_block=2048, warps=32, shared_memory=65536, registers=None)
    found = {name: (need, limit) for name, need, limit in needs(resources, chip)}
    assert found["threads"] == ("2,048", "1,024")
    assert found["shared memory"] == ("64 KiB", None)
    assert found["registers"] == ("–", None)
    assert all(limit is None for _, _, limit in needs(resources, None))


def test_a_grid_has_no_trailing_ones(make):
    (launch,) = make.verdict("rope-half", "mi300").launches
    shown = {sizes: grid(launch.model_copy(update={"grid": sizes})) for sizes in [(1,), (4096, 1, 1), (8, 1, 2)]}
    assert shown == {(1,): "1", (4096, 1, 1): "4,096", (8, 1, 2): "8 × 1 × 2"}


def test_what_was_not_launched_is_not_counted(make):
    (launch,) = make.verdict("rope-half", "mi300").launches
    never = launch.model_copy(update={"count": 0})
    assert launched(launch) == "12 launches, grid 4,096"
    assert launched(never) == "not launched, grid 4,096"
    refused = never.model_copy(update={"reason": Reason.RESOURCE_EXCEEDED, "grid": ()})
    assert launched(refused) == "refused before launch"
    text = Page(render(arrange(make.data([make.failed("rope-half", "mi300", "crash", "x", launches=(refused,))])))).text
    assert "; refused before launch" in text
    assert "0 launches" not in text


def test_dates_are_written_out():
    assert moment("2026-11-30T14:25:30+00:00") == "30 November 2026, 14:25 UTC"
    assert moment("yesterday") == "yesterday"


def test_anchors_need_no_escaping_and_do_not_clash():
    assert anchor("cell", "a", "b:c") != anchor("cell", "a:b", "c")
    assert re.fullmatch(r"[\w.:~-]+", anchor("cell", 'x" <é>', "%3A"))
    assert anchor("a%b") != anchor("a~25b")


def _palettes():
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    light, dark, printed = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in blocks)
    assert light.keys() == dark.keys() == printed.keys()
    return {"light": light, "dark": dark, "print": printed}


def _luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("name", ["light", "dark", "print"])
def test_marks_and_edges_stand_out_from_the_page(name):
    """WCAG 2.2, success criterion 1.4.11: a contrast of at least 3 for what is no text and has to be seen."""
    palette = _palettes()[name]
    drawn = [colour for colour in palette if re.fullmatch(r"c\d+|edge|pass-bar", colour)]
    assert len(drawn) == COLOURS + 2
    low = {colour: round(_contrast(palette[colour], palette["surface"]), 2) for colour in drawn}
    assert not {colour: contrast for colour, contrast in low.items() if contrast < 3}


@pytest.mark.parametrize("name", ["light", "dark", "print"])
def test_text_stands_out_from_what_is_behind_it(name):
    """WCAG 2.2, success criterion 1.4.3: a contrast of at least 4.5 for text of any size."""
    palette = _palettes()[name]
    inks, grounds = ("ink", "soft", "accent", "pass", "fail", "infra"), ("page", "surface", "sunken")
    pairs = [(ink, ground) for ink in inks for ground in grounds]
    pairs += [("ink", "hit"), ("soft", "hit"), ("infra", "infra-tint"), ("skipped", "skipped-tint")]
    pairs += [(s, f"{s}-{e}") for s in ("pass", "fail") for e in ("compiled", "emulated", "measured")]
    low = {}
    for ink, ground in pairs:
        if (contrast := _contrast(palette[ink], palette[ground])) < 4.5:
            low[ink, ground] = round(contrast, 2)
    assert not low
