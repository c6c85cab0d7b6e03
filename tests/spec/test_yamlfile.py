import contextlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.errors import InputError
from kernelarena.spec import Platform, Sweep, yamlfile

GOOD = """id: chip
title: A chip
vendor: v
backend: b
arch: a
ray: {resource: "platform:chip"}
memory: {bytes: 1024, bandwidth: 5.3e12, cache_bytes: 64}
source: {title: a sheet}
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "chip.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_numbers_are_those_of_yaml_1_2(file):
    platform = yamlfile.read(file(GOOD), Platform)
    assert platform.memory.bandwidth == 5.3e12
    assert platform.source[0].title == "a sheet"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "wrap_size: 32\n", r":9: wrap_size: unknown key"),
        (
            GOOD.replace("cache_bytes: 64", "cache_byte: 64"),
            r":7: memory\.cache_byte: unknown key; did you mean 'cache_b",
        ),
        (GOOD.replace("bytes: 1024,", "bytes: many,"), r":7: memory\.bytes: expected an integer, .*got 'many'"),
        (GOOD.replace("vendor: v\n", ""), r":1: vendor: this key is required"),
        (GOOD + "vendor: w\n", r":9: not valid YAML: key 'vendor' is given twice"),
        ("a: [1\n", r":2: not valid YAML"),
        ("- a\n", r": expected a mapping of keys, got list"),
        ("", r": expected a mapping of keys, got nothing"),
        (b"\xff\xfe", r": cannot be read"),
        ("a: &x {b: 1}\nc: *x\n", r":2: not valid YAML: aliases \(\*name\) are not allowed"),
        ("[a, b]: 1\n", r":1: not valid YAML: a key must be plain text"),
        ("a: 2026-13-01\n", r": not valid YAML: month must be"),
        ("a: " + "9" * 5000 + "\n", r": not valid YAML: Exceeds the limit"),
        ("a: " + "[" * 3000 + "\n", r": not valid YAML"),
    ],
)
def test_what_is_wrong_is_one_line_with_file_line_and_key(file, text, message):
    path = file(text)
    with pytest.raises(InputError, match=message) as caught:
        yamlfile.read(path, Platform)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_what_is_no_ordinary_file_is_not_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        yamlfile.read(tmp_path / "absent.yaml", Platform)
    with pytest.raises(InputError, match="not a regular file"):
        yamlfile.read(tmp_path, Platform)
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match="not a regular file"):
        yamlfile.read(tmp_path / "pipe.yaml", Platform)
    large = tmp_path / "large.yaml"
    large.write_text("#" * (yamlfile.MAX_BYTES + 1))
    with pytest.raises(InputError, match="larger than 4 MiB"):
        yamlfile.read(large, Platform)


@given(st.binary(max_size=80))
def test_any_bytes_are_a_model_or_an_input_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    with contextlib.suppress(InputError):
        assert isinstance(yamlfile.read(path, Sweep), Sweep)
