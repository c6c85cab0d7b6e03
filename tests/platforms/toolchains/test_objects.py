"""What kernels in C++ are linked with is compiled once on a host, and found by what it was made from."""

import dataclasses

import pytest

from kernelarena.platforms.toolchains import built, cpp
from kernelarena.platforms.toolchains.artefact import Needs
from kernelarena.platforms.toolchains.cpp import objects
from kernelarena.platforms.toolchains.cpp.compiler import RECORDER
from kernelarena.platforms.toolchains.cpp.objects import Objects, of_the_host, unit_name
from kernelarena.spec import Language


@pytest.fixture
def compiler():
    try:
        return cpp.find(Language.HIP, "gfx942")
    except cpp.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(objects, "cache_dir", lambda: tmp_path / "cache")


def test_it_is_compiled_once(compiler, monkeypatch, tmp_path):
    first = of_the_host(compiler, RECORDER)
    assert next(iter(first.values())).startswith(b"\x7fELF")
    with monkeypatch.context() as without:
        without.setattr(objects, "ask", None)  # whoever calls it now fails
        assert of_the_host(compiler, RECORDER) == first
    built.lay(first, tmp_path / "built")
    folder = Objects(tmp_path / "built")
    assert folder.host(compiler, RECORDER).read_bytes() in first.values()
    assert folder.host(dataclasses.replace(compiler, version="another"), RECORDER) is None


def test_a_compiler_that_refuses_is_left_to_whoever_needs_it(compiler, tmp_path):
    broken = tmp_path / "broken.cpp"
    broken.write_text("int x = ;\n")
    assert of_the_host(compiler, broken) == {}
    assert not (tmp_path / "cache").exists()


def test_a_unit_is_known_by_its_text_and_what_it_includes(compiler, tmp_path):
    names = {
        unit_name(compiler, arch, text, files)
        for arch in ("gfx942", "gfx90a")
        for text in ("int x;", "int y;")
        for files in ({"a.h": "1"}, {"a.h": "2"}, {"b.h": "1"})
    }
    assert len(names) == 12
    name = min(names)
    folder, made, needs = Objects(tmp_path / "built"), tmp_path / "unit.o", {"k": Needs(registers=7, spills=1)}
    assert folder.unit(name) is None
    made.write_bytes(b"object")
    kept = folder.keep(name, made, needs)
    assert kept.read_bytes() == b"object"
    assert folder.unit(name) == (kept, needs)
    assert {entry for told in built.collect(tmp_path / "built") for entry in told} == {
        f"{name}/unit.o",
        f"{name}/needs.json",
    }
