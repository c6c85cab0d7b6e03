"""What is printed arrives, or its loss is said; and what cannot be shown is shown plainly."""

import ast
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import kernelarena
from kernelarena.cli.streams import PLAIN, OutputLost, ReaderGone, _Output, _Remarks, _text

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(kernelarena.__file__).parent


def shell(script, *, encoding="utf-8", **environment):
    """Run a script in which ``$K`` is ``kab-mc``; returns its exit code, and both outputs as bytes."""
    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; K="{sys.executable} -m kernelarena.cli"; {script}'],
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding, "COLUMNS": "100", **environment},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", ["tasks list --json", "tasks list", "--help"])
def test_a_reader_that_goes_away_is_no_error(arguments):
    assert shell(f"$K {arguments} | true") == (0, b"", b"")


@pytest.mark.parametrize("arguments", ["tasks list --json", "platforms list", "--help"])
def test_results_that_cannot_be_written_are_an_error(arguments):
    lost = b"kab-mc: standard output cannot be written: "
    assert shell(f"$K {arguments} >/dev/full") == (3, b"", lost + b"No space left on device\n")
    assert shell(f"$K {arguments} >&-") == (3, b"", lost + b"Bad file descriptor\n")


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-", "<&- >&- 2>&-"])
def test_remarks_that_nobody_can_read_change_nothing(where):
    assert shell(f"$K tasks list {'' if '>&- 2' in where else where}")[0] == 0
    assert shell(f"$K tasks lst {where}") == (2, b"", b"")


@pytest.mark.parametrize("where", ["2>&-", ">&- 2>&-", ">/dev/full 2>/dev/full"])
def test_a_run_is_kept_whatever_becomes_of_what_is_said(tmp_path, where):
    kernel = json.dumps({"task": "softmax", "language": "triton", "entry": "softmax", "source": "def softmax(x): ..."})
    (tmp_path / "k.jsonl").write_text(kernel)
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert shell(f"$K sweep --platforms b580 --out {tmp_path}/run {tmp_path}/k.jsonl {where}", **state)[0] == 3
    assert json.loads((tmp_path / "run/report.json").read_text())["cells"][0]["status"] == "skipped"
    code, out, _ = shell(f"$K report {tmp_path}/run --format json --output -")
    assert (code, len(json.loads(out)["cells"])) == (0, 1)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1:strict"])
def test_signs_become_plain_where_the_encoding_has_none(encoding):
    for arguments in ("tasks show softmax", "platforms show mi300", "sweep --help"):
        code, out, err = shell(f"$K {arguments}", encoding=encoding)
        assert (code, err) == (0, b"")
        assert out.decode(encoding.split(":")[0])
    code, out, _ = shell("$K tasks show softmax --json", encoding=encoding)
    assert (code, json.loads(out)["id"]) == (0, "softmax"), "JSON is UTF-8"


def test_every_sign_that_is_printed_has_a_plain_form():
    printed = [*PACKAGE.glob("cli/*.py"), *(PACKAGE / "report" / f"{name}.py" for name in ("terminal", "words"))]
    used = set()
    for path in printed:
        tree = ast.parse(path.read_text())
        documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
                used |= {letter for letter in node.value if not letter.isascii()}
    assert used - PLAIN.keys() == set()
    assert all(plain.isascii() for plain in PLAIN.values())


class _Before(io.StringIO):
    def __init__(self, encoding):
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self):
        return self._encoding


def written(text, encoding):
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as file:
        stream = _text(_Output(writing), _Before(encoding))
        assert stream.write(text) == len(text)
        stream.flush()
        os.close(writing)
        return file.read()


@pytest.mark.parametrize(
    ("text", "encoding", "data"),
    [
        ("✓ a – é 中", "utf-8", "✓ a – é 中".encode()),
        ("✓ a – é 中", "ascii", b"+ a - \\xe9 \\u4e2d"),
        ("✓ a – é 中", "latin-1", b"+ a - \xe9 \\u4e2d"),
        ("name\udcff", "utf-8", b"name\xff"),
        ("name\udcff", "ascii", b"name\\udcff"),
        ("half \ud800", "utf-8", b"half \\ud800"),
        ("✓", None, "✓".encode()),
    ],
)
def test_text_is_written_in_the_encoding_that_there_is(text, encoding, data):
    assert written(text, encoding) == data


def test_a_reader_that_is_gone_and_a_disk_that_is_full_are_told_apart_once():
    reading, writing = os.pipe()
    os.close(reading)
    output = _Output(writing)
    with pytest.raises(ReaderGone):
        output.write(b"x")
    assert output.write(b"xyz") == 3, "from then on it goes nowhere"
    os.close(writing)
    with open("/dev/full", "wb") as full:
        with pytest.raises(OutputLost, match="No space left on device"):
            _Output(full.fileno()).write(b"x")
        assert _Remarks(full.fileno()).write(b"x") == 1


def test_a_pipe_that_does_not_block_gets_everything():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    data = os.urandom(1 << 20)
    got = []
    with os.fdopen(reading, "rb") as file:
        reader = threading.Thread(target=lambda: got.append(file.read()))
        buffered = io.BufferedWriter(_Output(writing))
        reader.start()
        buffered.write(data)
        buffered.flush()
        os.close(writing)
        reader.join()
    assert got == [data]
