"""The models that everything relies on: closed, frozen, and consistent in themselves."""

import pytest
from pydantic import ValidationError

from kernelarena.spec import (
    HIDDEN_FAMILIES,
    Evidence,
    Family,
    Kernel,
    Language,
    Reason,
    ReasonGroup,
    Shape,
    Status,
    Task,
    Verdict,
)

TASK = {
    "id": "t", "title": "T", "kind": "elementwise", "source": {"suite": "s", "name": "n"},
    "signature": "t(x: [M, N])", "dtypes": ["float32", "float16"],
    "dims": {"M": {"max": 64}, "N": {"max": 64, "multiple_of": 2}}, "constraints": ["M * N <= 1024"],
    "visible": [{"M": 8, "N": 8}, {"M": 3, "N": 2}], "work": {"flops": "M*N", "bytes": "2*M*N*itemsize"},
}  # fmt: skip


def test_a_task_knows_its_shapes_and_their_work():
    task = Task.model_validate(TASK)
    assert [str(shape) for shape in task.shapes()] == [
        "M=8 N=8 float32", "M=3 N=2 float32", "M=8 N=8 float16", "M=3 N=2 float16",
    ]  # fmt: skip
    assert task.flops(task.shapes()[0]) == 64
    assert (task.bytes(task.shapes()[0]), task.bytes(task.shapes()[2])) == (512, 256)
    assert task.why_not({"M": 8, "N": 3}) == "N=3 is outside its dim"
    assert "constraint" in task.why_not({"M": 64, "N": 64})
    assert "exactly" in task.why_not({"M": 64})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"visible": [{"M": 64, "N": 64}]}, "breaks the constraint"),
        ({"visible": []}, "at least 1"),
        ({"dtypes": []}, "at least 1"),
        ({"layouts": []}, "at least 1"),
        ({"distributions": []}, "at least 1"),
        ({"dtypes": ["float12"]}, "float12"),
        ({"constraints": ["K < 3"]}, "not a dim"),
        ({"constraints": ["M % (N - N) == 0"]}, "cannot be computed"),
        ({"work": {"flops": "M / (M - M)", "bytes": "1"}}, "cannot be computed"),
        ({"work": {"flops": "-M", "bytes": "1"}}, "negative"),
        ({"dims": {"M": {"min": 9, "max": 8}, "N": {"max": 8}}}, "larger than max"),
        ({"dims": {"M": {"max": 8, "choices": [16]}, "N": {"max": 8}}}, "outside"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_a_task_that_contradicts_itself_is_refused(change, message):
    with pytest.raises(ValidationError, match=message):
        Task.model_validate({**TASK, **change})


def test_every_reason_belongs_to_one_group():
    groups = {group: [reason for reason in Reason if reason.group is group] for group in ReasonGroup}
    assert sum(map(len, groups.values())) == len(Reason)
    assert [len(groups[group]) for group in ReasonGroup] == [8, 9, 9, 6, 6]
    assert Reason.FRAMEWORK_FALLBACK.group is ReasonGroup.COMPILE
    assert Reason.INTERRUPTED.group is ReasonGroup.INFRA


def test_hidden_families_are_all_but_the_visible():
    assert set(HIDDEN_FAMILIES) == set(Family) - {Family.VISIBLE}


def verdict(**changes):
    return Verdict(task="t", kernel="k", language=Language.TRITON, platform="p", **changes)


def test_a_verdict_has_one_reason_exactly_when_it_did_not_pass():
    assert verdict(status=Status.PASS, evidence=Evidence.COMPILED).reason is None
    for wrong in (
        {"status": Status.PASS, "evidence": Evidence.COMPILED, "reason": Reason.MISMATCH},
        {"status": Status.FAIL, "evidence": Evidence.COMPILED},
        {"status": Status.FAIL, "reason": Reason.MISMATCH},
        {"status": Status.SKIPPED},
    ):
        with pytest.raises(ValidationError):
            verdict(**wrong)


def test_the_digest_of_a_copy_is_that_of_the_copy():
    kernel = Kernel(
        id="k", task="t", language="triton", file="k.py", function="f", files={"k.py": "a"}, origin="."
    )  # fmt: skip
    before = kernel.digest
    assert kernel.model_copy(update={"files": {"k.py": "b"}}).digest != before
    assert kernel.model_copy(update={"id": "other", "origin": "there"}).digest == before


def test_shapes_are_equal_and_hash_by_value():
    one, other = (Shape(dims={"M": 1, "N": 2}, dtype="float32") for _ in range(2))
    assert one == other
    assert len({one, other, one.with_(dtype="float16")}) == 2
