"""What the compile gate remembers, and when it must not."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from kernelarena.protocol import compile_cache
from kernelarena.protocol.compile import Decision
from kernelarena.spec import Language, Status, Tally, TaskSource
from tests.protocol.gate import PLATFORMS, TASK, kernel_of

KERNEL = kernel_of("def entry(x): return x")
SOURCE = TaskSource(task=TASK, reference="def reference(x): return x", origin="t")
DECISION = Decision(status=Status.PASS, visible=Tally(passed=2, total=2), notes=("a note",))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def key(kernel=KERNEL, task=SOURCE, platform="mi300"):
    return compile_cache.key(kernel, task, PLATFORMS[platform])


def test_what_is_stored_is_found():
    assert compile_cache.load(key()) is None
    compile_cache.store(key(), DECISION)
    assert compile_cache.load(key()) == DECISION
    assert compile_cache.load(key(platform="h100")) is None


def test_everything_that_the_answer_depends_on_is_in_the_key(monkeypatch):
    mi300 = PLATFORMS["mi300"]
    fewer = mi300.model_copy(update={"limits": mi300.limits.model_copy(update={"shared_memory_per_block": 1024})})
    other_shapes = TASK.model_copy(update={"visible": ({"M": 1, "N": 1},)})
    keys = [
        key(),
        key(platform="mi355"),
        compile_cache.key(KERNEL, SOURCE, fewer),
        key(kernel=kernel_of("def entry(x): return x + 0")),
        key(kernel=KERNEL.model_copy(update={"function": "other"})),
        key(task=SOURCE.model_copy(update={"task": other_shapes})),
        key(task=SOURCE.model_copy(update={"reference": "another"})),
    ]
    monkeypatch.setattr(compile_cache.triton, "version", lambda: "another")
    keys.append(key())
    monkeypatch.setattr(compile_cache, "_own_code", lambda: "changed")
    keys.append(key())
    assert len(set(keys)) == len(keys)
    assert key(kernel=KERNEL.model_copy(update={"id": "renamed", "origin": "elsewhere"})) == keys[-1]


def test_a_changed_source_outside_the_kernel_makes_an_entry_stale(tmp_path):
    package = tmp_path / "package.py"
    package.write_text("VALUE = 1")
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    compile_cache.store(key(), DECISION.model_copy(update={"sources": {str(package): digest}}))
    assert compile_cache.load(key()) is not None
    package.write_text("VALUE = 2")
    assert compile_cache.load(key()) is None
    package.unlink()
    assert compile_cache.load(key()) is None


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/", "no\0name"])
def test_a_source_that_is_no_file_is_never_read(path):
    compile_cache.store(key(), DECISION.model_copy(update={"sources": {path: "0" * 64}}))
    assert compile_cache.load(key()) is None


def test_a_damaged_entry_is_ignored_and_replaced(tmp_path):
    compile_cache.store(key(), DECISION)
    (entry,) = (tmp_path / "cache").rglob("*.json")
    for text in ("", "{", '{"status": "great"}', "\x00\xff"):
        entry.write_text(text)
        assert compile_cache.load(key()) is None
    compile_cache.store(key(), DECISION)
    assert compile_cache.load(key()) == DECISION
    assert [path.name for path in entry.parent.iterdir()] == [entry.name]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    compile_cache.store(key(), DECISION)
    assert compile_cache.load(key()) is None


def test_looking_up_imports_neither_torch_nor_triton():
    code = (
        "import sys; from kernelarena.protocol import compile_cache; compile_cache.load('0' * 64);"
        "compile_cache._version('torch'); compile_cache._own_code();"
        "assert not {'torch', 'triton', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_toolchain_is_named_with_its_version():
    assert compile_cache.toolchain(Language.TORCH).startswith("torch ")
    assert compile_cache.toolchain(Language.TRITON).startswith("triton ")


def test_binaries_that_lie_there_longest_make_room_for_new_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_cache, "cache_dir", lambda: tmp_path)
    for age, name in enumerate(("new", "old", "older")):
        compile_cache.store_built(name, {"KEY/add.cubin": bytes(100)})
        path = tmp_path / "compile" / name[:2] / f"{name}.zip"
        os.utime(path, (1e9 - age, 1e9 - age))
    room = 2 * path.stat().st_size
    monkeypatch.setattr(compile_cache, "_MOST_BUILT", room)
    compile_cache.store_built("newest", {"KEY/add.cubin": bytes(100)})
    assert [name for name in ("newest", "new", "old", "older") if compile_cache.load_built(name)] == ["newest", "new"]
