from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from kernelarena.report.junit import render
from kernelarena.report.view import arrange
from kernelarena.spec import Reason, Status
from tests.report import hostile


def suites(view):
    return {suite.get("name"): suite for suite in ET.fromstring(render(view))}


def test_one_suite_a_platform_and_one_case_a_kernel(view, data):
    found = suites(view)
    assert tuple(found) == data.manifest.platforms
    for suite in found.values():
        assert [case.get("name") for case in suite] == list(data.manifest.kernels)
        assert int(suite.get("tests")) == len(suite)
        for kind, counted in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(counted)) == len(suite.findall(f"testcase/{kind}"))


def test_every_outcome_has_its_element(view, data):
    found = suites(view)
    kinds = {Status.PASS: None, Status.FAIL: "failure", Status.INFRA: "error", Status.SKIPPED: "skipped"}
    for verdict in data.verdicts:
        case = found[verdict.platform].find(f"testcase[@name='{verdict.kernel}']")
        assert [child.tag for child in case] == ([kinds[verdict.status]] if kinds[verdict.status] else [])
        if verdict.evidence is not None:
            assert case.get("classname") == f"{verdict.platform} ({verdict.evidence}).{verdict.task}"
    case = found["h100"].find("testcase[@name='layer-norm-two-pass']")
    assert case.find("skipped").get("message") == "not judged yet"


def test_a_failure_says_what_to_do_where_and_how_to_see_it_again(view):
    failure = suites(view)["mi300"].find("testcase[@name='fp8-rows']/failure")
    assert failure.get("type") == Reason.UNSUPPORTED_FEATURE.value
    assert failure.get("message").startswith("unsupported-feature: type fp8e4nv")
    for word in ("kernel.py:14: e = tl.exp(x)", "Guard the feature", "CompilationError", "Reproduce: kab-mc check"):
        assert word in failure.text


def test_what_the_toolchain_says_of_itself_is_no_evidence(make):
    said = "k.py:5: UserWarning: TRITON_DEFAULT_FP_FUSION is unset: so\n"
    silent, loud = (
        make.failed("rope-half", platform, Reason.UNWRITTEN_OUTPUT, "none", log=log)
        for platform, log in (("cpu", said), ("mi300", f"{said}Traceback\n"))
    )
    found = suites(arrange(make.data([silent, loud])))
    texts = {name: suite.find("testcase/failure").text for name, suite in found.items()}
    assert not any("FP_FUSION" in text for text in texts.values())
    assert "Traceback" in texts["mi300"]


@pytest.mark.parametrize("text", [*hostile.TEXTS, "a\ufffe\uffffb", "]]>", hostile.LONG], ids=range(20))
def test_hostile_text_is_text_of_well_formed_xml(make, text):
    written = render(arrange(hostile.run(make, text)))
    assert len(written) < 200_000
    root = ET.fromstring(written.encode())
    assert {element.tag for element in root.iter()} == {"testsuites", "testsuite", "testcase", "failure", "error"}
