import pytest

from kernelarena.cluster.worker import Answer, Worker, load
from kernelarena.spec import Status, Sweep
from tests.cluster import fakes, samples


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setenv(fakes.LOG, str(tmp_path))

    def ask(action, factory=fakes.FACTORY):
        cell = samples.cells({"k": action}, ("mi300",))[0]
        models = (cell.kernel, cell.task, cell.platform, Sweep())
        worker = Worker(factory)
        answer = worker.judge(*(model.model_dump_json() for model in models), 7)
        worker.close()
        worker.close()
        return Answer.model_validate_json(answer)

    return ask


def test_everything_arrives_and_the_verdict_comes_back(ask, tmp_path):
    answer = ask("pass")
    assert answer.verdict.status is Status.PASS
    assert answer.verdict.detail == "seed 7"
    assert fakes.computed(tmp_path) == {("k", "mi300"): 1}
    assert len(list(tmp_path.glob("closed-*"))) == 1


def test_an_exception_is_one_line_and_ours(ask):
    answer = ask("raise")
    assert (answer.verdict, answer.error, answer.input) == (None, "RuntimeError: a bug with two lines", False)


def test_a_broken_task_is_the_users(ask):
    answer = ask("bad-task")
    assert (answer.error, answer.input) == ("tasks/x/reference.py:3: it does not work", True)


def test_a_judge_that_cannot_be_made_is_an_answer_too(ask):
    assert "No module named 'nowhere'" in ask("pass", "nowhere:Judge").error


def test_the_real_judge_is_where_the_package_says():
    from kernelarena.cluster.worker import JUDGE

    judge = load(JUDGE)
    judge.close()
