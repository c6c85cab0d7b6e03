"""The report in a real browser."""

from __future__ import annotations

import base64
import re

import pytest

from kernelarena.report.html import anchor, render
from kernelarena.report.view import arrange
from kernelarena.spec import Status
from tests.report import hostile, runs
from tests.report.browser import CHROMIUM, DRIVER, NARROW, WIDE, Browser

pytest.importorskip("selenium", reason="opening the report in a browser needs selenium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="no Chromium with its driver; Debian: chromium chromium-driver"
)

ROWS = (
    "return [...document.querySelectorAll('#cells tbody tr')].map(row => [...row.cells].map(c => c.textContent.trim()))"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def measured():
    return runs.measured()


@pytest.fixture(scope="module")
def pages(measured, data):
    made = {"measured": measured, "smallest": runs.smallest(), "mixed": data}
    return {name: render(arrange(run)) for name, run in made.items()}


@pytest.mark.parametrize("name", ["measured", "smallest", "mixed"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_loads_in_silence_and_fits(browser, pages, name, size, dark):
    browser.requests()
    browser.open(pages[name], size=size, dark=dark)
    assert browser.logged() == []
    assert browser.requests() == []
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), "it does not scroll sideways"
    browser.keep(f"{name}-{size[0]}-{'dark' if dark else 'light'}")


@pytest.mark.parametrize(("name", "size", "dark"), [("mixed", WIDE, False), ("measured", NARROW, True)])
def test_nobody_meets_a_serious_barrier(browser, pages, name, size, dark):
    pytest.importorskip("axe_core_python", reason="the accessibility scan needs axe-core-python")
    browser.open(pages[name], size=size, dark=dark)
    browser.run("document.querySelectorAll('#figures details, .kernel:nth-of-type(-n+3)').forEach(e => e.open = true)")
    serious = [found for found in browser.barriers() if found["impact"] in ("serious", "critical")]
    assert not [(found["id"], [node["html"][:200] for node in found["nodes"][:4]]) for found in serious]


def test_every_chart_has_marks(browser, pages):
    browser.open(pages["measured"])
    marks = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('.plot')].map(plot => [plot.dataset.spec,"
        " plot.querySelectorAll('.role-mark path, .role-mark text, .role-mark line').length]))"
    )
    assert len({name.rpartition("-")[0] for name in marks}) == 10, "all figures are there"
    assert min(marks.values()) >= 2


def test_a_run_with_little_says_which_figures_are_left_out(browser, pages):
    browser.open(pages["smallest"])
    assert browser.run("return document.querySelectorAll('.missing li').length") == 9
    assert browser.run("return document.querySelectorAll('.plot svg').length") == 3, "what compilers say is known"


def test_filters_and_order_change_the_rows_and_the_address(browser, pages, measured):
    from selenium.webdriver.support.ui import Select

    browser.open(pages["measured"])
    every = browser.run(ROWS)
    assert len(every) == len(measured.verdicts)
    form = browser.driver.find_element("css selector", ".filters")
    Select(form.find_element("name", "platform")).select_by_visible_text("h100")
    form.find_element("name", "q").send_keys("softmax")
    expected = [v for v in measured.verdicts if v.platform == "h100" and v.task == "softmax"]
    assert [row[0] for row in browser.run(ROWS)] == [v.kernel for v in expected]
    assert browser.run("return location.hash") == "#cells?q=softmax&platform=h100"
    assert (
        browser.run("return document.querySelector('.filters output').textContent") == f"{len(expected)} of 120 cells"
    )
    browser.run("document.querySelector('[data-key=speedup] button').click()")
    assert browser.run("return location.hash") == "#cells?q=softmax&platform=h100&sort=-speedup"
    speedups = [v.speedup.median for v in expected if v.speedup is not None]
    shown = [row[7] for row in browser.run(ROWS)]
    assert shown == [f"{ratio:.2f} ×" for ratio in sorted(speedups, reverse=True)] + [""] * (len(shown) - len(speedups))
    browser.run("document.querySelector('.filters [type=reset]').click()")
    browser.until("return location.hash === '#cells'")
    assert browser.run(ROWS) == every


def test_a_link_to_a_view_restores_it(browser, pages, measured):
    browser.open(pages["measured"], "#cells?status=fail&evidence=measured&sort=kernel")
    failed = [v for v in measured.verdicts if v.status is Status.FAIL and v.evidence == "measured"]
    assert [row[0] for row in browser.run(ROWS)] == sorted(v.kernel for v in failed)
    assert browser.run("return document.querySelector('[name=status]').value") == "fail"
    assert browser.run("return document.querySelector('[data-key=kernel]').getAttribute('aria-sort')") == "ascending"
    browser.open(pages["measured"], "#cells?status=nonsense&sort=-nonsense")
    assert len(browser.run(ROWS)) == len(measured.verdicts), "what this run does not have filters nothing"


def test_a_reason_leads_to_its_cells(browser, pages, measured):
    browser.open(pages["measured"])
    browser.run("document.querySelector('#losses tbody a').click()")
    browser.until("return location.hash.startsWith('#cells?outcome=')")
    reason = browser.run("return document.querySelector('[name=outcome]').value")
    assert len(browser.run(ROWS)) == sum(v.reason == reason for v in measured.verdicts) > 0


def test_a_mark_of_a_kernel_leads_to_its_cells(browser, pages, measured):
    from selenium.webdriver import ActionChains

    browser.open(pages["measured"])
    browser.run("document.querySelector('#figure-roofline').scrollIntoView()")
    dot = browser.driver.find_element("css selector", "[data-spec=roofline-0] .mark-symbol path")
    ActionChains(browser.driver).move_to_element(dot).click().perform()
    browser.until("return location.hash.startsWith('#cells?q=')")
    ((kernel, _, platform, *_),) = browser.run(ROWS)
    assert any((v.kernel, v.platform) == (kernel, platform) and v.efficiency for v in measured.verdicts)
    assert browser.logged() == []


def test_a_cell_of_the_matrix_leads_to_what_is_known_of_it(browser, pages, measured):
    failed = next(v for v in measured.verdicts if v.status is Status.FAIL)
    place = anchor("cell", failed.kernel, failed.platform)
    visible = f"return document.getElementById('{place}').checkVisibility({{contentVisibilityAuto: true}})"
    browser.open(pages["measured"])
    assert not browser.run(visible), "details are folded away at first"
    browser.run("document.querySelector(arguments[0]).click()", f".matrix a[href='#{place}']")
    browser.until(visible)
    browser.open(pages["measured"], f"#{place}")
    assert browser.run(visible), "also for whoever comes by the link"


def test_the_keyboard_reaches_everything(browser, pages):
    from selenium.webdriver.common.keys import Keys

    browser.open(pages["measured"])
    active = browser.driver.switch_to.active_element
    active.send_keys(Keys.TAB)
    assert browser.run("return document.activeElement.className") == "skip"
    browser.run("document.querySelector('[data-key=task] button').focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.run("return document.querySelector('[data-key=task]').getAttribute('aria-sort')") == "ascending"
    browser.run("document.querySelector('.kernel > summary').focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.run("return document.querySelector('.kernel').open")


def test_charts_follow_the_colours_that_are_preferred(browser, pages):
    ink = "return document.querySelector('.plot .role-axis-label text').getAttribute('fill')"
    browser.open(pages["measured"])
    light = browser.run(ink)
    assert light == browser.run("return getComputedStyle(document.documentElement).getPropertyValue('--soft').trim()")
    browser.look(dark=True)
    browser.until(f"{ink} !== '{light}'")
    assert browser.run(ink) == browser.run(
        "return getComputedStyle(document.documentElement).getPropertyValue('--soft').trim()"
    )


def test_it_can_be_printed(browser, pages):
    browser.open(pages["measured"], dark=True)
    browser.look(dark=True, medium="print")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run("return getComputedStyle(document.querySelector('.filters')).display") == "none"
    for place in ("#cells .scroll", ".matrix .scroll"):
        assert browser.run(
            "const e = document.querySelector(arguments[0]); return e.scrollHeight <= e.clientHeight", place
        )
    light = browser.run("return getComputedStyle(document.documentElement).getPropertyValue('--soft').trim()")
    browser.until(f"return document.querySelector('.plot .role-axis-label text').getAttribute('fill') === '{light}'")
    printed = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 3


def test_figures_can_be_saved(browser, pages):
    browser.open(pages["measured"])
    browser.until("return document.querySelectorAll('.save button').length === 20")
    browser.run(
        "window.saved = []; HTMLAnchorElement.prototype.click ="
        " function () { saved.push([this.download, this.href.slice(0, 5)]); };"
        " document.querySelectorAll('#figure-fast .save button').forEach(one => one.click())"
    )
    browser.until("return saved.length === 2")
    assert dict(browser.run("return saved")).keys() == {"figure-fast.svg", "figure-fast.png"}


@pytest.mark.parametrize("text", [text for text in hostile.TEXTS if "<" in text or "on" in text])
def test_hostile_text_runs_nothing(browser, make, text):
    browser.requests()
    browser.open(render(arrange(hostile.run(make, text))))
    assert browser.run("return [document.querySelectorAll('img').length, document.querySelectorAll('h1').length]") == [
        0,
        1,
    ]
    assert browser.logged() == []
    assert browser.requests() == []


def test_even_a_hole_in_the_escaping_would_run_nothing(browser, pages):
    holed = pages["smallest"].replace(
        "</main>", "<script>window.owned = true</script><img src=x onerror='owned = 1'></main>"
    )
    browser.open(holed)
    assert browser.run("return window.owned === undefined")
    assert any("Content Security Policy" in line for line in browser.logged())


def test_a_large_page_is_still_one(browser):
    text = render(arrange(runs.large()))
    assert len(text.encode()) < 5_000_000
    browser.open(text, "#cells?platform=h200")
    assert len(browser.run(ROWS)) == 200
    browser.keep("large-1440-light")
