import pytest

from kernelarena.cluster.cell import infra, ordered, unobtainable
from kernelarena.platforms.backend import Availability
from kernelarena.spec import Evidence, Reason, Status
from tests.cluster import samples


def test_what_runs_starts_before_what_is_only_compiled_and_kernels_stay_together():
    cells = samples.cells({"a": "pass", "b": "pass"}, ("mi300", "cpu", "h100"))
    assert [cell.key for cell in ordered(cells, samples.AVAILABLE)] == [
        ("a", "cpu"),
        ("b", "cpu"),
        ("a", "mi300"),
        ("a", "h100"),
        ("b", "mi300"),
        ("b", "h100"),
    ]


def test_measured_cells_run_even_where_they_could_be_compiled_too():
    available = {**samples.AVAILABLE, "h100": Availability((Evidence.MEASURED, Evidence.COMPILED))}
    cells = samples.cells({"a": "pass"}, ("mi300", "h100"))
    assert [cell.platform.id for cell in ordered(cells, available)] == ["h100", "mi300"]


@pytest.mark.parametrize("require", [None, Evidence.COMPILED])
def test_a_cell_that_can_be_judged_has_no_verdict_yet(require):
    (cell,) = samples.cells({"a": "pass"}, ("mi300",))
    assert unobtainable(cell, samples.COMPILED, require) is None


@pytest.mark.parametrize(
    ("platform", "reason"),
    [
        ("cpu", Reason.TOOLCHAIN_MISSING),
        ("mi300", Reason.TOOLCHAIN_MISSING),
        ("ascend910b", Reason.DEVICE_UNAVAILABLE),
        ("bi-v150", Reason.DEVICE_UNAVAILABLE),
    ],
)
def test_a_cell_of_which_nothing_can_be_had_is_skipped(platform, reason):
    (cell,) = samples.cells({"a": "pass"}, (platform,))
    verdict = unobtainable(cell, samples.NOTHING, None)
    assert (verdict.kernel, verdict.platform, verdict.task) == ("a", platform, "softmax")
    assert (verdict.status, verdict.reason, verdict.detail) == (Status.SKIPPED, reason, "nothing is installed")
    assert verdict.evidence is None


@pytest.mark.parametrize("available", [samples.COMPILED, samples.EMULATED, samples.NOTHING])
def test_evidence_that_is_required_and_lacking_is_infrastructure(available):
    (cell,) = samples.cells({"a": "pass"}, ("mi300",))
    verdict = unobtainable(cell, available, Evidence.MEASURED)
    assert (verdict.status, verdict.reason) == (Status.INFRA, Reason.DEVICE_UNAVAILABLE)
    assert verdict.detail == f"evidence 'measured' is required: {available.why_not}"


def test_infrastructure_verdicts_carry_what_is_known_of_the_kernel():
    cell = samples.cells({"a": "pass"}, ("mi300",))[0]
    verdict = infra(cell, Reason.WORKER_LOST, "gone", attempts=3, duration=1.5)
    assert (verdict.language, verdict.attempts, verdict.duration_s) == (cell.kernel.language, 3, 1.5)
