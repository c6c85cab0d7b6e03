"""What was built in one process is found in another, whatever the folders are called."""

import json
import os

import pytest

from kernelarena.platforms.toolchains import built


@pytest.fixture
def folder(tmp_path):
    """One entry as Triton keeps it, and a shared library of the host's."""
    entry = tmp_path / "one" / "KEY1"
    entry.mkdir(parents=True)
    (entry / "add.cubin").write_bytes(bytes(range(256)))
    (entry / "add.json").write_text('{"shared": 0}')
    listed = {name: str(entry / name) for name in ("add.cubin", "add.json")}
    (entry / "__grp__add.json").write_text(json.dumps({"child_paths": listed}))
    library = tmp_path / "one" / "KEY2"
    library.mkdir()
    (library / "launcher.so").write_bytes(b"\x7fELF")
    return tmp_path / "one"


def carried(folder):
    files = {}
    for entry in built.collect(folder):
        files |= built.decoded(json.loads(json.dumps(entry)))
    return files


@pytest.mark.parametrize("deflated", [True, False])
def test_files_arrive_as_they_were_and_lists_name_the_new_places(folder, tmp_path, deflated):
    built.lay(built.unpacked(built.packed(carried(folder), deflated=deflated)), tmp_path / "two")
    made = tmp_path / "two" / "KEY1"
    assert (made / "add.cubin").read_bytes() == bytes(range(256))
    assert json.loads((made / "__grp__add.json").read_text())["child_paths"] == {
        "add.cubin": str(made / "add.cubin"),
        "add.json": str(made / "add.json"),
    }


def test_triton_takes_them_for_its_own(folder, tmp_path):
    cache = pytest.importorskip("triton.runtime.cache")
    built.lay(carried(folder), tmp_path / "two")
    with cache.knobs.cache.scope():
        cache.knobs.cache.dir = str(tmp_path / "two")
        manager = cache.FileCacheManager("KEY1")
        found = manager.get_group("add.json")
    assert found == {name: str(tmp_path / "two" / "KEY1" / name) for name in ("add.cubin", "add.json")}


def test_what_depends_on_no_kernel_is_told_apart(folder):
    files = carried(folder)
    assert set(built.libraries(files)) == {"KEY2/launcher.so"}
    assert set(built.kernels(files)) == set(files) - {"KEY2/launcher.so"}


def test_what_a_host_was_handed_is_not_told_of_nor_believed(folder):
    """A process that ran a kernel could have changed it, and it would be handed to that kernel as the host's own."""
    (folder / "host-1").mkdir()
    (folder / "host-1" / "recorder.o").write_bytes(b"\x7fELF")
    assert not any("host-1" in name for name in carried(folder))
    assert built.kernels({"host-1/recorder.o": b"", "cpp-1/unit.o": b""}) == {"cpp-1/unit.o": b""}


def test_an_entry_that_fits_no_message_is_left_to_be_built_again(folder):
    (folder / "KEY1" / "large").write_bytes(os.urandom(6 << 20))
    assert set(carried(folder)) == {"KEY2/launcher.so"}


@pytest.mark.parametrize(
    "told",
    [
        [],
        {"../../etc/passwd": "eJwDAAAAAAE="},
        {"KEY/../x": "eJwDAAAAAAE="},
        {"/KEY/x": "eJwDAAAAAAE="},
        {"KEY/.hidden": "eJwDAAAAAAE="},
        {"KEY/a/b": "eJwDAAAAAAE="},
        {"KEY/x": 7},
        {"KEY/x": "not base 64"},
        {"KEY/x": "AAAA"},
        {7: "eJwDAAAAAAE="},
    ],
)
def test_what_is_no_file_of_an_entry_is_refused(told):
    with pytest.raises(ValueError, match=r"file|built"):
        built.decoded(told)


def test_more_than_the_most_is_neither_sent_nor_taken_in(folder, monkeypatch):
    entries = list(built.collect(folder))
    monkeypatch.setattr(built, "MOST_BYTES", 100)
    assert list(built.collect(folder)) == []
    with pytest.raises(ValueError, match="were built"):
        built.decoded(entries[0])


def test_a_damaged_archive_holds_nothing(folder):
    archive = built.packed(carried(folder))
    assert built.unpacked(archive[: len(archive) // 2]) == {}
    assert built.unpacked(b"") == {}
