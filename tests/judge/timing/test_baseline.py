"""What kernels are timed beside, on a device that a backend of another distribution brings."""

import pytest

from kernelarena.judge.timing import gate
from kernelarena.judge.timing.baseline import NoBaseline, opponents
from kernelarena.spec import Baseline, Language, Status
from tests.judge.test_judge import ADD_ONE
from tests.judge.test_measuring import installed  # noqa: F401
from tests.judge.timing.test_gate import CHIP, SWEEP, judge  # noqa: F401

RIGHT = "def entry(x):\n    return x + 1\n"
WRONG = "def entry(x):\n    return x + 2\n"


@pytest.fixture
def torch_kernel(kernel):
    def make(source, name="mine", **changes):
        made = kernel(source, task="add_one", language="torch")
        return made.model_copy(update={"id": name, **changes})

    return make


@pytest.fixture
def verdict(judge, torch_kernel):  # noqa: F811
    def make(baseline, subject=None, **changes):
        sweep = SWEEP.model_copy(update={"timing": SWEEP.timing.model_copy(update={"baseline": baseline})})
        task = ADD_ONE.model_copy(update=changes)
        found = judge.judge(subject or torch_kernel(RIGHT), task, CHIP, sweep, hidden_seed=5)
        assert found.status is Status.PASS, f"{found.reason}: {found.detail}"
        return found

    return make


def untimed(found):
    """Return why a cell that passes was not timed."""
    assert (found.speedup, found.timings) == (None, ())
    (note,) = [note for note in found.notes if note.startswith("not timed: ")]
    return note.removeprefix("not timed: ")


def beside(found):
    """Return what all shapes of a cell were timed beside."""
    (name,) = {timed.speedup.baseline for timed in found.timings}
    assert len(found.timings) == len(ADD_ONE.task.visible)
    assert found.speedup.baseline == name
    return name


def reference(code):
    return {"reference": ADD_ONE.reference.partition("def reference")[0] + code}


class TestCompile:
    def test_is_the_reference_compiled(self, verdict):
        assert beside(verdict(Baseline.COMPILE)) == "pytorch-compile"

    def test_of_which_nothing_can_be_compiled_is_no_eager_one_in_disguise(self, verdict):
        code = (
            "import torch\n\n\n@torch.compiler.disable\ndef left_out(x):\n    return x + 1\n\n\n"
            "def reference(x):\n    return left_out(x)\n"
        )
        assert "nothing in it to compile" in untimed(verdict(Baseline.COMPILE, **reference(code)))


class TestShipped:
    def test_is_one_that_passes_here_of_the_same_language_first(self, verdict, torch_kernel):
        shipped = (
            torch_kernel(RIGHT, "other", language=Language.TRITON),
            torch_kernel(WRONG, "wrong"),
            torch_kernel(RIGHT, "right"),
        )
        assert beside(verdict(Baseline.SHIPPED, kernels=shipped)) == "shipped:right"

    def test_that_does_not_pass_is_none(self, verdict, torch_kernel):
        found = untimed(verdict(Baseline.SHIPPED, kernels=(torch_kernel(WRONG, "wrong"),)))
        assert "shipped:wrong does not pass here (mismatch: " in found

    def test_may_not_exist(self, verdict):
        assert untimed(verdict(Baseline.SHIPPED)) == "no kernel comes with the task add_one"


class TestOriginal:
    FILES = {"kernel.py": RIGHT, "slow.py": "def first(x):\n    return x - 1 + 2\n", "bad.py": WRONG}

    def test_is_a_file_of_the_kernels_own(self, verdict, torch_kernel):
        subject = torch_kernel(RIGHT, original="slow.py::first", files=self.FILES)
        assert beside(verdict(Baseline.ORIGINAL, subject)) == "original:mine"

    def test_has_to_be_right(self, verdict, torch_kernel):
        subject = torch_kernel(RIGHT, original="bad.py::entry", files=self.FILES)
        assert "original:mine does not pass here (mismatch: " in untimed(verdict(Baseline.ORIGINAL, subject))

    def test_may_be_unknown(self, verdict):
        assert "it names no original; add 'original: FILE::FUNCTION'" in untimed(verdict(Baseline.ORIGINAL))

    def test_is_believed_by_the_judges_clock_or_nothing_is(self, verdict, torch_kernel, monkeypatch):
        monkeypatch.setattr(gate, "believed", lambda told: False)
        subject = torch_kernel(RIGHT, original="slow.py::first", files=self.FILES)
        assert "not both confirmed by the judge's clock" in untimed(verdict(Baseline.ORIGINAL, subject))


def test_shipped_kernels_are_asked_in_the_order_of_their_language(kernel):
    ours = [kernel(RIGHT, language=language).model_copy(update={"id": name}) for name, language in
            (("a", "torch"), ("b", "triton"), ("c", "torch"), ("d", "triton"))]  # fmt: skip
    task = ADD_ONE.model_copy(update={"kernels": tuple(ours)})
    found = opponents(Baseline.SHIPPED, kernel(RIGHT, language="triton"), task, ["x"])
    assert [opponent.name for opponent in found] == ["shipped:b", "shipped:d", "shipped:a", "shipped:c"]


def test_only_an_original_may_be_by_the_kernels_author(kernel):
    subject = kernel(RIGHT).model_copy(update={"original": "kernel.py::entry"})
    task = ADD_ONE.model_copy(update={"kernels": (subject,)})
    doubted = {choice: opponents(choice, subject, task, ["x"])[0].doubted for choice in Baseline}
    assert [choice for choice, doubt in doubted.items() if doubt] == [Baseline.ORIGINAL]
    with pytest.raises(NoBaseline):
        opponents(Baseline.ORIGINAL, kernel(RIGHT), task, ["x"])
