from __future__ import annotations

import pytest

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
