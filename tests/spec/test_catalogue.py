"""Reading tasks from folders and choosing among them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kernelarena.errors import InputError
from kernelarena.spec import Kind, catalogue, paths
from kernelarena.spec.catalogue import kernels_of, load_tasks, matching, select, shipped_kernels

DECLARATION = """\
id: {id}
title: Twice
kind: elementwise
source: {{suite: lab, name: twice}}
suites: [lab]
signature: "{id}(x: [M]) -> y: [M]"
dtypes: [float32]
dims: {{M: {{max: 64}}}}
visible: [{{M: 8}}]
work: {{flops: M, bytes: "2*M*itemsize"}}
"""
REFERENCE = """\
def inputs(shape, rng):
    return {"x": rng.tensor(shape["M"])}


def reference(x):
    return x * 2
"""


def write(root: Path, name: str, *, id: str | None = None, declaration: str = "", reference: str = REFERENCE) -> Path:
    folder = root / "lab" / name
    folder.mkdir(parents=True)
    (folder / "task.yaml").write_text(declaration or DECLARATION.format(id=id or name))
    (folder / "reference.py").write_text(reference)
    return folder


@pytest.fixture(autouse=True)
def no_folders_of_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERNELARENA_PATH", raising=False)


def refusal(root: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_tasks([root])
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_the_shipped_tasks_are_called_as_their_folders() -> None:
    tasks = load_tasks()
    assert {
        "add", "gelu_tanh_and_mul", "softmax", "layer_norm", "rms_norm_residual", "cross_entropy", "matmul", "bmm",
        "rotary_embedding", "attention", "cumsum", "fp8_quantise_rows",
    } <= set(tasks)  # fmt: skip
    assert all(source.task.id == name == Path(source.origin).name for name, source in tasks.items())
    assert len({source.task.kind for source in tasks.values()}) >= 8
    assert all(source.task.suites for source in tasks.values())


def test_a_shipped_task_is_read_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(catalogue, "_read_once", lambda folder: read.append(folder.name))
    tasks = load_tasks()
    assert "softmax" in tasks
    assert "nothing" not in tasks
    assert set(matching(["softma?,add"], tasks)) == {"softmax", "add"}
    assert read == []
    _ = tasks["add"]
    assert read == ["add"]


def test_a_folder_of_ones_own_adds_tasks(tmp_path: Path) -> None:
    folder = write(tmp_path, "twice")
    source = load_tasks([tmp_path])["twice"]
    assert source.reference == REFERENCE
    assert source.task.kind is Kind.ELEMENTWISE
    assert Path(source.origin) == folder
    assert kernels_of(source) == []


def test_a_later_folder_replaces_a_task_and_keeps_its_place(tmp_path: Path) -> None:
    write(tmp_path / "first", "softmax", reference=REFERENCE.replace("* 2", "* 3"))
    write(tmp_path / "second", "softmax")
    tasks = load_tasks([tmp_path / "first", tmp_path / "second"])
    assert tasks["softmax"].reference == REFERENCE
    assert list(tasks) == list(load_tasks())


def test_the_path_variable_is_read_before_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "site" / "tasks", "twice", reference=REFERENCE.replace("* 2", "* 3"))
    monkeypatch.setenv("KERNELARENA_PATH", str(tmp_path / "site"))
    assert "* 3" in load_tasks()["twice"].reference
    write(tmp_path / "own", "twice")
    assert "* 2" in load_tasks([tmp_path / "own"])["twice"].reference


def test_a_changed_reference_changes_the_digest(tmp_path: Path) -> None:
    write(tmp_path / "a", "twice")
    write(tmp_path / "b", "twice", reference=REFERENCE + "\n")
    first, second = (load_tasks([tmp_path / name])["twice"] for name in "ab")
    assert first.digest != second.digest


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere") == f"{tmp_path / 'nowhere'}: no such folder of tasks"


def test_a_folder_without_tasks(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(DECLARATION.format(id="twice"))  # two levels too high
    assert "holds no task; one is a folder <group>/<op>/" in refusal(tmp_path)


def test_half_a_task(tmp_path: Path) -> None:
    (write(tmp_path, "twice") / "reference.py").unlink()
    assert refusal(tmp_path).startswith(f"{tmp_path / 'lab/twice/reference.py'}: no such file")


def test_the_other_half(tmp_path: Path) -> None:
    (write(tmp_path, "twice") / "task.yaml").unlink()
    assert refusal(tmp_path) == f"{tmp_path / 'lab/twice/task.yaml'}: no such file"


def test_one_id_twice_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path, "twice")
    write(tmp_path, "two", id="twice")
    message = refusal(tmp_path)
    assert str(tmp_path / "lab/two/task.yaml") in message
    assert str(tmp_path / "lab/twice") in message


def test_a_declaration_with_a_wrong_key_names_the_line(tmp_path: Path) -> None:
    write(tmp_path, "twice", declaration=DECLARATION.format(id="twice").replace("suites:", "suite:"))
    assert refusal(tmp_path).startswith(f"{tmp_path / 'lab/twice/task.yaml'}:5: suite: unknown key; did you mean")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("def inputs(shape, rng):\n    return {\n", 2, "not valid Python: '{' was never closed"),
        ("def reference(x):\n    return x\n", 2, "without a function inputs(shape, rng)"),
        ("def inputs(shape, rng):\n    return {}\n", 2, "without a function reference(**inputs)"),
        ("", 1, "without a function inputs(shape, rng)"),
        (REFERENCE.replace("(shape, rng)", "(shape)"), 1, "inputs must take exactly (shape, rng)"),
        (REFERENCE.replace("(shape, rng)", "(shape, *rng)"), 1, "inputs must take exactly (shape, rng)"),
        (REFERENCE.replace("reference(x)", "reference(x, /)"), 5, "called by keyword; remove the '/'"),
        ("inputs = reference = print\n", 1, "without a function inputs(shape, rng)"),
    ],
)
def test_a_reference_that_cannot_serve(tmp_path: Path, text: str, line: int, said: str) -> None:
    write(tmp_path, "twice", reference=text)
    message = refusal(tmp_path)
    assert message.startswith(f"{tmp_path / 'lab/twice/reference.py'}:{line}: ")
    assert said in message


def test_a_reference_is_read_and_never_run(tmp_path: Path) -> None:
    write(tmp_path, "twice", reference=f"open({str(tmp_path / 'ran')!r}, 'w')\n{REFERENCE}")
    load_tasks([tmp_path])
    assert not (tmp_path / "ran").exists()


def test_a_reference_with_bytes_that_are_no_text(tmp_path: Path) -> None:
    (write(tmp_path, "twice") / "reference.py").write_bytes(b"\xff\xfe")
    assert "not UTF-8 text (it is UTF-16; save it as UTF-8)" in refusal(tmp_path)
    (tmp_path / "lab/twice/reference.py").write_bytes(b"x = '\0'\n")
    assert "reference.py: not valid Python: source code string cannot contain null bytes" in refusal(tmp_path)
    (tmp_path / "lab/twice/reference.py").write_bytes(b"x = " + b"(" * 100_000)
    assert "not valid Python" in refusal(tmp_path)
    (tmp_path / "lab/twice/reference.py").write_bytes(b"#" * (1 << 20) + b"\n")
    assert "larger than 1 MiB" in refusal(tmp_path)


def test_files_as_other_systems_write_them(tmp_path: Path) -> None:
    folder = write(tmp_path, "twice")
    for name, text in (("task.yaml", DECLARATION.format(id="twice")), ("reference.py", REFERENCE)):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    source = load_tasks([tmp_path])["twice"]
    assert source.task.title == "Twice"
    assert source.reference == REFERENCE.replace("\n", "\r\n")


def test_every_mistake_of_a_declaration_is_named(tmp_path: Path) -> None:
    text = DECLARATION.format(id="twice").replace("title: Twice", "title: 7").replace("suites: [lab]", "suits: lab")
    write(tmp_path, "twice", declaration=text)
    with pytest.raises(InputError) as caught:
        load_tasks([tmp_path])
    path = tmp_path / "lab/twice/task.yaml"
    assert caught.value.problems == (
        f"{path}:2: title: expected a string, got 7; put it in quotes",
        f"{path}:5: suits: unknown key; did you mean 'suites' or 'inputs' or 'layouts'?",
    )


def test_a_file_where_a_folder_is_meant_and_the_reverse(tmp_path: Path) -> None:
    (tmp_path / "tasks").write_text("")
    assert refusal(tmp_path / "tasks") == f"{tmp_path / 'tasks'}: is a file, no folder"
    folder = write(tmp_path / "root", "twice")
    (folder / "reference.py").unlink()
    (folder / "reference.py").mkdir()
    assert refusal(tmp_path / "root").endswith("reference.py: is a folder, where a file is expected")
    (folder / "reference.py").rmdir()
    (folder / "reference.py").symlink_to("reference.py")
    assert refusal(tmp_path / "root").endswith("reference.py: cannot be read: Too many levels of symbolic links")
    assert refusal(tmp_path / ("x" * 300)).endswith("cannot be read: File name too long")


def test_a_path_variable_that_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELARENA_PATH", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"KERNELARENA_PATH: .*nowhere: no such folder; correct the variable"):
        load_tasks()


def names(*patterns: str) -> list[str]:
    return [source.task.id for source in select(patterns, load_tasks())]


def test_globs_suites_and_commas() -> None:
    everything = names()
    assert everything == list(load_tasks())
    assert names("*") == names("suite:mc,suite:llm") == everything
    assert names("softmax") == ["softmax"]
    assert set(names("*layer_norm*,bm?")) == {"layer_norm", "bmm"}
    assert set(names("softmax", " add ")) == {"softmax", "add"}
    assert 0 < len(names("suite:llm")) < len(everything)


def test_a_selection_keeps_the_order_and_names_each_once() -> None:
    chosen = names("softmax", "s*", "add", "suite:ms")
    assert chosen == [name for name in names() if name in chosen]
    assert len(set(chosen)) == len(chosen)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("softmx", "unknown task 'softmx'; did you mean 'softmax'"),
        ("softma?x", "no task matches 'softma?x'; did you mean 'softmax'"),
        ("Softmax", "unknown task 'Softmax'; did you mean 'softmax'"),
        ("suite:ml", "no task belongs to the suite 'ml'; did you mean"),
        ("softmax,qqqq", "unknown task 'qqqq'; known: "),
    ],
)
def test_a_pattern_that_matches_nothing(pattern: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        names(pattern)
    assert str(caught.value).startswith(said)


def test_shipped_kernels_are_those_beside_the_shipped_tasks() -> None:
    folders = shipped_kernels()
    assert len(folders) == len(set(folders))
    assert all(
        (place.parent / "kernels.yaml" if "::" in place.name else place / "kernel.yaml").is_file() for place in folders
    )
    beside = {folder for source in load_tasks().values() for folder in kernels_of(source)}
    assert set(folders) == beside
    assert all(paths.shipped("tasks") in folder.parents for folder in folders)


def test_reading_tasks_imports_no_framework() -> None:
    code = (
        "import sys; from kernelarena.spec.catalogue import load_tasks; load_tasks();"
        "print(sorted({'torch', 'triton', 'ray', 'pandas', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
