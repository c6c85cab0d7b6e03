"""Families: what members inherit, what they replace, and where mistakes are said to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelarena.errors import InputError
from kernelarena.spec.catalogue import kernel_name, kernels_of, load_tasks
from kernelarena.spec.kernels import load_kernels
from tests.spec.test_catalogue import DECLARATION

FAMILY = """\
kind: elementwise
source: {suite: aten, name: "aten::{id}"}
signature: "{id}(x: [M, N]) -> y: [M, N]"
inputs: {x: [M, N]}
reference: torch.{id}(x)
dtypes: [float32, float16]
dims: {M: {max: 64}, N: {max: 64}}
visible: [{M: 8, N: 8}]
work: {flops: "M*N", bytes: "2*M*N*itemsize"}
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "unary.family.yaml").write_text(FAMILY)
    return tmp_path / "lab"


def member(lab: Path, name: str, more: str = "") -> Path:
    (lab / name).mkdir(exist_ok=True)
    (lab / name / "task.yaml").write_text(f"id: {name}\nfamily: unary\ntitle: {name}\n{more}")
    return lab / name


def refusal(lab: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_tasks([lab.parent])
    return [problem.replace(f"{lab}/", "") for problem in caught.value.problems]


def test_a_member_says_only_what_differs(lab: Path) -> None:
    member(lab, "cos")
    source = load_tasks([lab.parent])["cos"]
    assert source.task.source.name == "aten::cos"
    assert source.task.signature.startswith("cos(x")
    assert source.reference.endswith("def reference(x):\n    return torch.cos(x)\n")
    assert source.where == f"{lab}/cos/task.yaml"


def test_mappings_are_merged_and_the_rest_is_replaced(lab: Path) -> None:
    more = (
        "inputs: {x: {size: [M, N], above: 1.0}, n: {value: 2}}\ndims: {N: {max: 32}}\n"
        'work: {flops: "3*M*N"}\ndtypes: [float32]\nreference: torch.pow(x, n)\n'
    )
    member(lab, "pow", more)
    source = load_tasks([lab.parent])["pow"]
    task = source.task
    assert (task.dims["M"].max, task.dims["N"].max) == (64, 32)
    assert (task.work.flops, task.work.bytes) == ("3*M*N", "2*M*N*itemsize")
    assert task.dtypes == ("float32",)
    assert "def reference(x, n):" in source.reference
    assert "rng.above(1.0, " in source.reference


def test_the_same_declaration_gives_the_same_digest(lab: Path) -> None:
    member(lab, "cos")
    first = load_tasks([lab.parent])["cos"].digest
    assert load_tasks([lab.parent])["cos"].digest == first
    member(lab, "cos", "reference: torch.cos(x) * 1\n")
    assert load_tasks([lab.parent])["cos"].digest != first


def test_a_mistake_is_where_it_is_said(lab: Path) -> None:
    member(lab, "cos", "dtypes: [float32]\nkindd: x\n")
    (lab / "unary.family.yaml").write_text(FAMILY.replace("{max: 64}}", "{max: wide}}"))
    assert refusal(lab) == [
        "cos/task.yaml:5: kindd: unknown key; did you mean 'kind' or 'id'?",
        "unary.family.yaml:7: dims.N.max: expected an integer, got 'wide'",
    ]


def test_a_key_that_neither_has_is_missing_in_the_member(lab: Path) -> None:
    member(lab, "cos")
    (lab / "unary.family.yaml").write_text(FAMILY.replace("kind: elementwise\n", ""))
    assert refusal(lab) == ["cos/task.yaml:1: kind: this key is required"]


MISTAKES = {
    "no such family": ("", "family: unary", "family: unry", "2: family: there is no file .*; did you mean 'unary'"),
    "no name": ("", "family: unary", "family: [1]", r"2: family: expected the name of a family, got \[1\]"),
    "an unknown input": ("reference: torch.cos(y)\n", "", "", "the reference names y, which is no input"),
    "an unknown dim": ("inputs: {x: [M, K]}\n", "", "", "the input 'x' names K, which is not a dim"),
    "an unknown dtype": ("inputs: {x: {size: [M], dtype: half}}\n", "", "", "the input 'x' has the dtype half"),
    "no argument's name": ("inputs: {lambda: [M]}\n", "", "", "the input 'lambda' is no name of a Python argument"),
    "in place of nothing": ("in_place: y\n", "", "", "in_place names 'y', which is no input; there are x"),
    "a law without randomness": ("law: {name: normal, mean: 0, deviation: 1}\n", "", "", "no other may have one"),
    "half a law": (
        "kind: random\nlaw: {name: normal, mean: 0}\n",
        "",
        "",
        "exactly the parameters mean, deviation",
    ),
    "no expression": ("reference: 'y = x'\n", "", "", "not one expression of Python"),
}


@pytest.mark.parametrize(("more", "old", "new", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_of_a_member(lab: Path, more: str, old: str, new: str, said: str) -> None:
    folder = member(lab, "cos", more)
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=said) as caught:
        load_tasks([lab.parent])
    assert "task.yaml:" in str(caught.value)


def test_a_family_has_no_family(lab: Path) -> None:
    member(lab, "cos")
    (lab / "unary.family.yaml").write_text("family: other\n" + FAMILY)
    assert refusal(lab) == ["unary.family.yaml:1: family: a family cannot be a member of another"]


def test_only_what_is_not_declared_is_written_in_python(tmp_path: Path) -> None:
    folder = tmp_path / "lab" / "twice"
    folder.mkdir(parents=True)
    text = DECLARATION.format(id="twice") + "inputs: {x: [M]}\n"
    (folder / "task.yaml").write_text(text)
    with pytest.raises(InputError, match=r"reference.py: no such file; reference is neither declared"):
        load_tasks([tmp_path])
    (folder / "reference.py").write_text("def reference(x):\n    y = x * 2\n    return y\n")
    source = load_tasks([tmp_path])["twice"]
    assert source.where == f"{folder}/reference.py"
    assert source.reference.startswith("def reference(x):\n    y"), "its lines stay where they are"
    assert 'return {\n        "x": rng.tensor(shape["M"]),' in source.reference
    (folder / "reference.py").write_text("def inputs(shape, rng):\n    pass\ndef reference(x):\n    return x\n")
    with pytest.raises(InputError, match=r"reference.py:1: inputs is declared in task.yaml as well"):
        load_tasks([tmp_path])
    (folder / "task.yaml").write_text(text + "reference: x * 2\n")
    with pytest.raises(InputError, match=r"task.yaml:\d+: reference: is declared, and .*reference.py is there as well"):
        load_tasks([tmp_path])
    (folder / "task.yaml").write_text(DECLARATION.format(id="twice") + "reference: x * 2\n")
    with pytest.raises(InputError, match="a declared reference needs declared inputs"):
        load_tasks([tmp_path])


LIST = """\
language: triton
home: h100
kernels:
  - {task: cos, entry: "unary.py::cos"}
  - {task: sin, entry: "unary.py::sin", home: mi300, id: my-sine}
"""
SOURCE = "def cos(x):\n    pass\n\n\ndef sin(x):\n    pass\n"


@pytest.fixture
def kernels(lab: Path) -> Path:
    for name in ("cos", "sin", "tan"):
        member(lab, name)
    folder = lab / "kernels" / "triton"
    folder.mkdir(parents=True)
    (folder / "kernels.yaml").write_text(LIST)
    (folder / "unary.py").write_text(SOURCE)
    return folder


def test_a_familys_kernels_are_one_folder(kernels: Path) -> None:
    tasks = load_tasks([kernels.parents[2]])
    found, left_out = load_kernels([kernels], tasks=tasks)
    assert left_out == []
    assert [(one.id, one.task, one.function, one.home) for one in found] == [
        ("cos-triton", "cos", "cos", "h100"), ("my-sine", "sin", "sin", "mi300"),
    ]  # fmt: skip
    assert all(one.files == {"unary.py": SOURCE} and one.origin == str(kernels) for one in found)
    (of_cos,), of_tan = kernels_of(tasks["cos"]), kernels_of(tasks["tan"])
    assert (str(of_cos), kernel_name(of_cos)) == (f"{kernels}/kernels.yaml::cos", "triton")
    assert of_tan == []
    assert load_kernels([of_cos], tasks=["cos"])[0] == found[:1]
    again, _ = load_kernels([of_cos, kernels, kernels / "kernels.yaml"], tasks=tasks)
    assert [one.id for one in again] == ["cos-triton", "my-sine"], "named thrice, read once"


WRONG_LISTS = {
    "a shared key": ("language: triton", "language: tritn", "kernels.yaml:1: language: expected"),
    "a key of an entry": ("home: mi300", "hom: mi300", "kernels.yaml:5: hom: unknown key; did you mean"),
    "a task": ("task: sin", "task: sine", "kernels.yaml:5: kernels.1.task: unknown task 'sine'"),
    "no task": (
        "task: sin, ",
        "",
        "kernels.yaml:5: task: this key is required",
    ),
    "a file": ("unary.py::sin", "sine.py::sin", "kernels.yaml:5: kernels.1.entry: no file 'sine.py'"),
    "no list": (
        LIST[LIST.index("kernels:") :],
        "kernels: {}\n",
        "kernels.yaml:3: kernels: expected a list of mappings",
    ),
    "none": (LIST[LIST.index("kernels:") :], "kernels: []\n", "kernels.yaml:3: kernels: may not be empty"),
}


@pytest.mark.parametrize(("old", "new", "said"), WRONG_LISTS.values(), ids=WRONG_LISTS)
def test_what_is_wrong_with_a_list(kernels: Path, old: str, new: str, said: str) -> None:
    path = kernels / "kernels.yaml"
    path.write_text(LIST.replace(old, new))
    with pytest.raises(InputError, match=said):
        load_kernels([kernels], tasks=["cos", "sin", "tan"])


def test_one_wrong_entry_leaves_the_others(kernels: Path) -> None:
    (kernels / "kernels.yaml").write_text(LIST.replace("unary.py::sin", "sine.py::sin"))
    found, left_out = load_kernels([kernels], tasks=["cos", "sin"], keep_going=True)
    assert [one.task for one in found] == ["cos"]
    assert len(left_out) == 1
    with pytest.raises(InputError, match="none is for the task 'tan'"):
        load_kernels([f"{kernels}/kernels.yaml::tan"], tasks=["cos", "sin", "tan"])
