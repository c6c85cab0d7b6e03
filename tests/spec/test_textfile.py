from __future__ import annotations

import pytest

from kernelarena.errors import InputError
from kernelarena.spec import textfile


def test_a_file_is_replaced_as_it_was_given(tmp_path):
    path = tmp_path / "a.txt"
    textfile.replace(path, "old")
    textfile.replace(path, "new\r\nline ✓\n")
    assert path.read_bytes() == "new\r\nline ✓\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path):
    path = tmp_path / "a.txt"
    textfile.replace(path, "old")
    with pytest.raises(TypeError):
        textfile.replace(path, 7)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        textfile.replace(tmp_path / "no" / "a.txt", "x")


def test_a_name_that_fills_the_limit_can_be_replaced(tmp_path):
    for name in ("x" * 255, "é" * 127):
        textfile.replace(tmp_path / name, "new")
        assert (tmp_path / name).read_text() == "new"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x" * 2049, "larger than 2 KiB"),
        (b"caf\xe9", r"not UTF-8 text \(byte 3\)"),
        ("text".encode("utf-16"), "it is UTF-16; save it as UTF-8"),
    ],
)
def test_what_cannot_be_read(tmp_path, data, said):
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(InputError, match=said):
        textfile.read(tmp_path / "a.txt", limit=2048)


def test_a_byte_order_mark_is_no_text_and_line_ends_stay(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    assert textfile.read(tmp_path / "a.txt", limit=100) == "a\r\nb\n"
