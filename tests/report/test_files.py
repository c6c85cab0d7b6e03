from __future__ import annotations

import json
import subprocess
import sys

import pytest

from kernelarena.errors import InputError
from kernelarena.report import FORMATS, render, write
from tests.report import runs


def test_the_three_files_of_a_run(data, tmp_path):
    written = write(data, tmp_path)
    assert written == {name: tmp_path / f"report.{name}" for name in ("json", "md", "html")}
    for name, path in written.items():
        assert path.read_text(encoding="utf-8") == render(data, name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "report.json", "report.md"], "no drafts left"


def test_a_report_is_replaced(data, make, tmp_path):
    write(data, tmp_path)
    write(make.data([make.verdict("rope-half", "mi300")]), tmp_path)
    assert len(json.loads((tmp_path / "report.json").read_text())["cells"]) == 1


def test_a_folder_that_cannot_be_written_is_named(data, tmp_path):
    with pytest.raises(InputError, match=r"nowhere/report\.json: cannot be written: No such file"):
        write(data, tmp_path / "nowhere")


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_run_gives_the_same_text(data, name):
    assert render(data, name) == render(data, name)


def test_reports_need_neither_torch_nor_pandas():
    program = (
        "import sys, kernelarena.report.files as f, kernelarena.report.html, kernelarena.report.terminal;"
        "print([m for m in ('torch', 'triton', 'ray', 'pandas', 'numpy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_all_forms_agree_on_the_numbers(data):
    """Passed of judged for each platform, read back from each of the forms."""
    import csv
    import io
    import re
    from xml.etree import ElementTree

    import pyarrow.parquet
    from rich.console import Console

    from kernelarena.report.terminal import summary

    document = json.loads(render(data, "json"))
    expected = [
        (e["passed"], e["passed"] + e["failed"]) for p in document["platforms"].values() for e in p["evidence"].values()
    ]
    cells = list(csv.DictReader(io.StringIO(render(data, "csv"))))
    judged = [
        [c for c in cells if c["platform"] == p and c["status"] in ("pass", "fail")] for p in document["platforms"]
    ]
    assert [(sum(c["status"] == "pass" for c in own), len(own)) for own in judged] == expected
    suites = ElementTree.fromstring(render(data, "junit"))
    unknown = [int(suite.get("errors")) + int(suite.get("skipped")) for suite in suites]
    totals = [int(suite.get("tests")) - out for suite, out in zip(suites, unknown, strict=True)]
    failed = [int(suite.get("failures")) for suite in suites]
    assert [(total - lost, total) for total, lost in zip(totals, failed, strict=True)] == expected
    typed = pyarrow.parquet.read_table(io.BytesIO(render(data, "parquet"))).to_pylist()
    assert [(row["platform"], row["status"]) for row in typed] == [(c["platform"], c["status"]) for c in cells]
    html = re.findall(r"<strong>(\d+)/(\d+)</strong>", render(data, "html"))
    markdown = re.findall(r"\*\*(\d+)/(\d+)\*\*", render(data, "md"))
    console = Console(file=io.StringIO(), width=200)
    console.print(summary(data))
    terminal = re.findall(r"(\d+)/(\d+)", console.file.getvalue())
    for found in (html, markdown, terminal):
        assert [(int(a), int(b)) for a, b in found] == expected


def test_every_cell_is_the_same_in_all_forms():
    """Outcome, shapes passed and speedup of each cell, read back from each of the forms that have them."""
    import csv
    import io
    import re
    from xml.etree import ElementTree

    data = runs.measured()
    expected = [
        (
            v.kernel,
            v.platform,
            str(v.reason or v.status),
            f"{v.visible.passed}/{v.visible.total}",
            f"{v.hidden.passed}/{v.hidden.total}" if v.hidden.total else "",
            f"{v.speedup.median:.2f} ×" if v.speedup else "",
        )
        for v in data.verdicts
    ]
    document = json.loads(render(data, "json"))

    def shapes(tally):
        return f"{tally['passed']}/{tally['total']}" if tally["total"] else ""

    assert expected == [
        (
            *(c["kernel"], c["platform"], c["reason"] or c["status"], shapes(c["visible"]), shapes(c["hidden"])),
            f"{c['speedup']['median']:.2f} ×" if c["speedup"] else "",
        )
        for c in document["cells"]
    ]
    lines = csv.DictReader(io.StringIO(render(data, "csv")))
    assert expected == [
        (
            *(c["kernel"], c["platform"], c["reason"] or c["status"]),
            f"{c['visible_passed']}/{c['visible_total']}",
            f"{c['hidden_passed']}/{c['hidden_total']}" if c["hidden_total"] != "0" else "",
            f"{float(c['speedup']):.2f} ×" if c["speedup"] else "",
        )
        for c in lines
    ]
    body = re.search(r'<table class="plain sheet">.*?<tbody>(.*?)</tbody>', render(data, "html"), re.DOTALL)[1]
    told = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in body.splitlines() if line.startswith("<tr")]
    plain = [[re.sub(r"<[^>]+>", "", cell) for cell in line] for line in told]
    assert expected == [(c[0], c[2], c[4], c[5], c[6], c[7]) for c in plain]
    suites = ElementTree.fromstring(render(data, "junit"))
    cases = {
        (case.get("name"), suite.get("name")): case[0].get("type") if len(case) else "pass"
        for suite in suites
        for case in suite
    }
    assert cases == {(kernel, platform): outcome for kernel, platform, outcome, *_ in expected}
    table = re.findall(r"^\| `([^`]+)` \| (.*) \|$", render(data, "md"), re.MULTILINE)
    signs = [(kernel, cell[0]) for kernel, cells in table for cell in cells.split(" | ")]
    assert signs == [(kernel, "✓" if outcome == "pass" else "✗") for kernel, _, outcome, *_ in expected]
