"""What ``kab-mc tasks new`` writes is a task, and can be verified as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kernelarena.cli.tasks import tasks
from kernelarena.errors import InputError
from kernelarena.spec.catalogue import load_tasks
from tests.spec.test_family import FAMILY


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(tasks, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_a_task_by_itself_is_complete(tmp_path: Path) -> None:
    said = invoke("new", "my_op", "--group", "mine", "--in", str(tmp_path))
    assert f"kab-mc tasks verify my_op --tasks-dir {tmp_path}" in said
    source = load_tasks([tmp_path])["my_op"]
    assert source.task.signature.startswith("my_op(x: [M, N])")
    assert "return torch.relu(x)" in invoke("show", "my_op", "--reference", "--tasks-dir", str(tmp_path))


def test_a_member_of_a_family_is_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "unary.family.yaml").write_text(FAMILY)
    invoke("new", "tanh", "--group", "mine", "--family", "unary", "--in", str(tmp_path))
    assert "return torch.tanh(x)" in load_tasks([tmp_path])["tanh"].reference
    assert len((tmp_path / "mine" / "tanh" / "task.yaml").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tanh", "--group", "mine"), "is there already; choose another id"),
        (("new", "--group", "mine", "--family", "unry"), "there is no file .*unry.family.yaml; did you mean 'unary'"),
        (("../up", "--group", "mine"), "ID: '../up' is no name"),
        (("op", "--group", "."), "--group: '.' is no name"),
    ],
)
def test_what_cannot_be_begun(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "mine" / "tanh").mkdir(parents=True)
    (tmp_path / "mine" / "unary.family.yaml").write_text(FAMILY)
    with pytest.raises(InputError, match=said):
        invoke("new", *arguments, "--in", str(tmp_path))
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["tanh", "unary.family.yaml"]
