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
        (b"\xff\xfe", r": not UTF-8 text \(it is UTF-16; save it as UTF-8\)"),
        (b"a: caf\xe9\n", r": not UTF-8 text \(byte 6\)"),
        ("a: &x {b: 1}\nc: *x\n", r":2: not valid YAML: aliases \(\*name\) are not allowed"),
        ("[a, b]: 1\n", r":1: not valid YAML: a key must be plain text"),
        ("b: 1\na: 2026-13-01\n", r":2: not valid YAML: month must be"),
        ("a: " + "9" * 5000 + "\n", r":1: not valid YAML: Exceeds the limit \(4300 digits\) .*[a-z]$"),
        ("a: " + "[" * 3000 + "\n", r": not valid YAML"),
        ("b: 1\na: " + "[" * 80 + "]" * 80 + "\n", r":2: a\.0\.0\.0\.0\.0 …: nested more than 64 levels deep"),
        ('a: 1\nb: {c: "\\ud800"}\n', r":2: b\.c: holds half of a surrogate pair"),
        ("a: 1e400\n", r":1: a: is a number without end \(inf\)"),
        ('a: {"\\ud800": {b: 1}}\n', r":1: a: a key holds half of a surrogate pair"),
        ("a: !!binary aGk=\n", r":1: a: is of a type that has no place here \(bytes\)"),
        (GOOD.replace("title: A chip", "title: 2026-01-02"), r":2: title: expected a string.*; put it in quotes"),
        (GOOD.replace("id: chip", "id: a/b"), r":1: id: a name of letters, digits and _\.\+- that starts"),
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
    with pytest.raises(InputError, match="is a folder, where a file is expected"):
        yamlfile.read(tmp_path, Platform)
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match="is neither a file nor a folder, where a file is expected"):
        yamlfile.read(tmp_path / "pipe.yaml", Platform)
    large = tmp_path / "large.yaml"
    large.write_text("#" * (yamlfile.MAX_BYTES + 1))
    with pytest.raises(InputError, match="larger than 4 MiB"):
        yamlfile.read(large, Platform)


def test_every_mistake_of_a_file_is_named_in_the_order_of_its_lines(file):
    path = file(GOOD.replace("arch: a", "arch: 90").replace("vendor: v", "vendr-of: v").replace("1024", "0"))
    with pytest.raises(InputError) as caught:
        yamlfile.read(path, Platform)
    assert caught.value.problems == (
        f"{path}:1: vendor: this key is required",
        f"{path}:3: vendr-of: unknown key; did you mean 'vendor'?",
        f"{path}:5: arch: expected a string, got 90; put it in quotes",
        f"{path}:7: memory.bytes: expected greater than 0, got 0",
    )
    assert str(caught.value) == f"{path}:1: vendor: this key is required (and 3 more)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("deadlines: {call: .inf}", r":1: deadlines\.call: expected a number, got '\.inf'"),
        ("deadlines: {call: 1e9}", r":1: deadlines\.call: expected less than or equal to 86400"),
        ("workers: 5000", r":1: workers: expected less than or equal to 1024"),
        ("retries: yes", r":1: retries: expected a number, got a truth value"),
        ("hidden: {seed: 99999999999999999999}", r":1: hidden\.seed: expected less than"),
        ("tasks: softmax", r":1: tasks: expected a list, got 'softmax'; put it in brackets"),
        ("kernels: ['']", r":1: kernels\.0: may not be empty"),
        ("workers: 1\n---\nworkers: 2", r":2: not valid YAML: but found another document"),
    ],
)
def test_numbers_and_words_of_a_configuration(file, text, message):
    with pytest.raises(InputError, match=message):
        yamlfile.read(file(text), Sweep)


def test_files_as_other_systems_write_them(file):
    assert yamlfile.read(file("\ufeff" + GOOD.replace("\n", "\r\n")), Platform) == yamlfile.read(file(GOOD), Platform)


@given(st.binary(max_size=80))
def test_any_bytes_are_a_model_or_an_input_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    with contextlib.suppress(InputError):
        assert isinstance(yamlfile.read(path, Sweep), Sweep)
