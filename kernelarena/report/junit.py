"""``report.xml``: JUnit's form, which build servers show. One suite a platform, one case a kernel.

There is no standard for it. What is written here is what the schema that Jenkins publishes allows, and what GitLab,
GitHub's reporters and Jenkins read: failures with a type and a message, errors for what is not the kernel's fault, and
skipped cases.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from kernelarena.report import words
from kernelarena.report.text import clean, one_line, worth_reading
from kernelarena.report.view import Column, View, reproduce
from kernelarena.spec import Status, Verdict

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LOG = 4_000


def render(view: View) -> str:
    """Return the cells as JUnit XML.

    A class is a platform with the evidence behind the case (``mi300 (compiled).softmax``), so that build servers, which
    group by class, keep kinds of evidence apart too. Cells without a verdict yet are skipped cases.
    """
    root = ET.Element("testsuites", name="kernelarena")
    verdicts = {(verdict.kernel, verdict.platform): verdict for verdict in view.data.verdicts}
    for column in view.columns:
        root.append(_suite(view, column, verdicts))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(view: View, column: Column, verdicts: dict[tuple[str, str], Verdict]) -> ET.Element:
    cells = [(row.id, verdicts.get((row.id, column.id))) for row in view.rows]
    statuses = [verdict.status if verdict is not None else Status.SKIPPED for _, verdict in cells]
    suite = ET.Element(
        "testsuite",
        name=_line(column.id),
        tests=str(len(cells)),
        failures=str(statuses.count(Status.FAIL)),
        errors=str(statuses.count(Status.INFRA)),
        skipped=str(statuses.count(Status.SKIPPED)),
        time=f"{sum(verdict.duration_s for _, verdict in cells if verdict is not None):.3f}",
        timestamp=_line(view.data.manifest.created.partition("+")[0]),
    )
    for kernel, verdict in cells:
        suite.append(_pending(column.id, kernel) if verdict is None else _case(view, verdict))
    return suite


def _pending(platform: str, kernel: str) -> ET.Element:
    case = ET.Element("testcase", classname=_line(platform), name=_line(kernel), time="0")
    ET.SubElement(case, "skipped", message="not judged yet")
    return case


def _case(view: View, verdict: Verdict) -> ET.Element:
    basis = f" ({verdict.evidence})" if verdict.evidence is not None else ""
    case = ET.Element(
        "testcase",
        classname=_line(f"{verdict.platform}{basis}.{verdict.task}"),
        name=_line(verdict.kernel),
        time=f"{verdict.duration_s:.3f}",
    )
    if verdict.status is Status.PASS:
        return case
    kind = {Status.FAIL: "failure", Status.INFRA: "error", Status.SKIPPED: "skipped"}[verdict.status]
    message = _line(f"{verdict.reason}: {verdict.detail}")
    outcome = ET.SubElement(case, kind, message=message)
    if verdict.status is not Status.SKIPPED:
        outcome.set("type", str(verdict.reason))
        outcome.text = _text(_story(view, verdict))
    return case


def _story(view: View, verdict: Verdict) -> str:
    parts = [verdict.detail]
    if verdict.reason is not None and verdict.status is Status.FAIL:
        parts.append(words.ADVICE[verdict.reason])
    if verdict.location is not None:
        parts.append(f"{verdict.location.file}:{verdict.location.line}: {verdict.location.text.strip()}")
    if log := worth_reading(verdict.log):
        parts.append(clean(log, limit=_LOG, keep="end"))
    command = reproduce(view.data.kernels.get(verdict.kernel), [verdict], view.data.manifest)
    return "\n\n".join([*parts, f"Reproduce: {command}"])


def _line(text: str) -> str:
    return _NO_XML.sub("�", one_line(text, limit=600))


def _text(text: str) -> str:
    return _NO_XML.sub("�", clean(text))
