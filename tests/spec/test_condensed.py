from __future__ import annotations

import pytest

from kernelarena.spec import Evidence, Family, Gate, Language, Reason, Shape, Status, TimedShape, Trial, Verdict
from kernelarena.spec.condensed import KEPT, Checked, checked, condensed

VISIBLE = Shape(dims={"M": 8}, dtype="float16")
HIDDEN = VISIBLE.with_(family=Family.EDGE)


def trial(shape: Shape, error: float | None, passed: bool = True) -> Trial:
    return Trial(shape=shape, passed=passed, error=error, reason=None if passed else Reason.MISMATCH)


def verdict(*trials: Trial, **fields: object) -> Verdict:
    return Verdict.model_validate(
        {
            "task": "softmax",
            "kernel": "k",
            "language": Language.TRITON,
            "platform": "mi300",
            "evidence": Evidence.MEASURED,
            "status": Status.PASS,
            "gate": Gate.HIDDEN,
            "trials": trials,
            **fields,
        }
    )


def test_calls_are_counted_and_the_worst_error_known():
    inf, nan = float("inf"), float("nan")
    told = verdict(trial(VISIBLE, 0.2), trial(VISIBLE, inf, False), trial(HIDDEN, 0.7), trial(HIDDEN, nan, False))
    expected = Checked(total=4, failed=2, worst_visible=0.2, worst_hidden=0.7)
    assert checked(told) == expected == checked(condensed(told, {}))
    assert expected.worst == 0.7
    assert Checked().worst is None


@pytest.mark.parametrize("failed", [0, 3, KEPT + 5])
def test_the_first_calls_that_failed_are_kept(failed):
    wrong = [trial(VISIBLE, float(at), False) for at in range(failed)]
    kept = condensed(verdict(trial(VISIBLE, 0.1), *wrong), {})
    assert kept.trials == tuple(wrong[:KEPT])
    assert kept.checked.failed == failed


def test_everything_else_stays_as_it_is():
    timed = TimedShape(shape=VISIBLE, kernel=1e-5, baseline=2e-5, samples=100)
    told = verdict(timings=(timed,), log="words", duration_s=2.5)
    kept = condensed(told, {})
    assert {name: getattr(kept, name) for name in Verdict.model_fields} == dict(told)


def test_cells_share_the_shapes_that_they_have_in_common():
    shapes: dict[Shape, Shape] = {}
    cells = [condensed(verdict(timings=(TimedShape(shape=VISIBLE.model_copy(deep=True)),)), shapes) for _ in range(2)]
    assert cells[0].timings[0].shape is cells[1].timings[0].shape
