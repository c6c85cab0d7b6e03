"""Finding a kernel's entry, and saying why there is none."""

from __future__ import annotations

import sys

import pytest

from kernelarena.protocol.entry import EntryError, EntryFault, load_entry


@pytest.fixture(autouse=True)
def _clean_imports(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def load(folder, source, function="entry", file="kernel.py"):
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return load_entry(folder, file, function)


def test_a_function_a_method_and_a_module_class(tmp_path):
    assert load(tmp_path, "def entry(x): return x + 1")(1) == 2
    nested = "class Model:\n    class inner:\n        @staticmethod\n        def run(x): return x * 3\n"
    assert load(tmp_path, nested, "Model.inner.run", "second.py")(2) == 6
    called = "class ModelNew:\n    def __call__(self, x): return x * 5\n"
    assert load(tmp_path, called, "ModelNew", "third.py")(2) == 10


def test_siblings_import_one_another_and_sources_can_be_read(tmp_path):
    import inspect

    (tmp_path / "sibling_of_entry.py").write_text("VALUE = 4")
    entry = load(tmp_path, "from sibling_of_entry import VALUE\ndef entry(): return VALUE\n")
    assert entry() == 4
    assert inspect.getsource(entry) == "def entry(): return VALUE\n"


@pytest.mark.parametrize("file", ["torch.py", "json.py", "sub/folder.py", "my-kernel.py"])
def test_a_file_name_hides_no_other_module(tmp_path, file):
    import json

    assert load(tmp_path, "def entry(): return 1", file=file)() == 1
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("source", "fault", "message", "line"),
    [
        ("def entry(:", EntryFault.SYNTAX, "invalid syntax", 1),
        ("\nimport nowhere.to.be.found", EntryFault.IMPORT, "it needs the module 'nowhere'", 2),
        ("from os import nothing_of_the_kind", EntryFault.IMPORT, "cannot import name 'nothing_of_the_kind'", 1),
        ("x = {}['y']", EntryFault.IMPORT, "importing it raises KeyError: 'y'", 1),
        ("raise KeyboardInterrupt", EntryFault.IMPORT, "importing it raises KeyboardInterrupt", 1),
        ("def entyr(): ...", EntryFault.MISSING, "kernel.py has no 'entry'; did you mean 'entyr'?", None),
        ("entry = 3", EntryFault.MISSING, "'entry' in kernel.py is a int, not callable", None),
        (
            "class entry:\n    def __init__(self, width): ...",
            EntryFault.IMPORT,
            "entry() raises TypeError",
            None,
        ),
        (
            "class Rude(Exception):\n    def __str__(self): raise ValueError\nraise Rude",
            EntryFault.IMPORT,
            "(its message cannot be shown)",
            3,
        ),
    ],
)
def test_faults_are_told_apart_and_located(tmp_path, source, fault, message, line):
    with pytest.raises(EntryError) as caught:
        load(tmp_path, source)
    assert caught.value.fault is fault
    assert message in str(caught.value)
    assert caught.value.line == line


def test_a_syntax_error_of_a_sibling_is_placed_in_the_sibling(tmp_path):
    (tmp_path / "broken_sibling.py").write_text("x = 1\ny = (\n")
    with pytest.raises(EntryError) as caught:
        load(tmp_path, "import broken_sibling")
    assert (caught.value.fault, caught.value.file, caught.value.line) == (EntryFault.SYNTAX, "broken_sibling.py", 2)
