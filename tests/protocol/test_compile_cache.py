import subprocess
import sys

import pytest

from kernelarena.platforms import catalogue
from kernelarena.protocol import compile_cache
from kernelarena.protocol.compile import Decision
from kernelarena.spec import Kernel, Status, Tally
from kernelarena.spec.catalogue import load_tasks


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def cell():
    kernel = Kernel(
        id="k",
        task="softmax",
        language="triton",
        file="k.py",
        function="f",
        files={"k.py": "def f(x): ..."},
        origin=".",
    )
    return kernel, load_tasks()["softmax"], catalogue.load()["mi300"]


DECISION = Decision(status=Status.PASS, visible=Tally(passed=3, total=3), notes=("a note",))


def test_what_was_stored_is_found_again(cell):
    key = compile_cache.key(*cell)
    assert compile_cache.load(key) is None
    compile_cache.store(key, DECISION)
    assert compile_cache.load(key) == DECISION


def test_the_key_follows_everything_that_a_decision_follows_from(cell, monkeypatch):
    kernel, task, platform = cell
    keys = {
        compile_cache.key(kernel, task, platform),
        compile_cache.key(kernel.model_copy(update={"files": {"k.py": "changed"}}), task, platform),
        compile_cache.key(kernel.model_copy(update={"function": "g"}), task, platform),
        compile_cache.key(kernel, task.model_copy(update={"reference": "changed"}), platform),
        compile_cache.key(kernel, task, platform.model_copy(update={"arch": "gfx950"})),
        compile_cache.key(
            kernel, task, platform.model_copy(update={"limits": platform.limits.model_copy(update={"warp_size": 32})})
        ),
    }
    monkeypatch.setattr(compile_cache.triton, "version", lambda: "99")
    keys.add(compile_cache.key(kernel, task, platform))
    assert len(keys) == 7


def test_the_key_does_not_follow_the_name_of_a_kernel(cell):
    kernel, task, platform = cell
    renamed = kernel.model_copy(update={"id": "other", "origin": "elsewhere"})
    assert compile_cache.key(renamed, task, platform) == compile_cache.key(kernel, task, platform)


def test_an_entry_counts_only_while_its_sources_are_the_same(cell, tmp_path):
    imported = tmp_path / "imported.py"
    imported.write_text("a = 1\n")
    decision = DECISION.model_copy(update={"sources": {str(imported): compile_cache._file_digest(str(imported))}})
    key = compile_cache.key(*cell)
    compile_cache.store(key, decision)
    assert compile_cache.load(key) == decision
    imported.write_text("a = 2\n")
    assert compile_cache.load(key) is None
    imported.unlink()
    assert compile_cache.load(key) is None


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b'{"status": "won"}', b"\xff\xfe"])
def test_a_spoilt_entry_is_no_entry(cell, content):
    key = compile_cache.key(*cell)
    compile_cache.store(key, DECISION)
    compile_cache._path(key).write_bytes(content)
    assert compile_cache.load(key) is None


def test_a_disk_that_takes_nothing_is_no_error(cell, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    compile_cache.store(compile_cache.key(*cell), DECISION)


def test_looking_up_imports_neither_torch_nor_triton():
    script = (
        "import sys; import kernelarena.protocol.compile_cache; assert not {'torch', 'triton'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
