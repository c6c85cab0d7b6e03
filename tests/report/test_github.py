from __future__ import annotations

from pathlib import PurePath

import pytest

from kernelarena.report.github import MOST, commands
from kernelarena.report.view import arrange
from kernelarena.spec import Location, Reason
from tests.report import hostile

ROOT = PurePath("/checkout")


def one(make, origin, *, location=True):
    where = Location(file="kernel.py", line=20) if location else None
    verdict = make.failed("softmax-1024", "mi300", Reason.CRASH, "100% of it, all: gone\nnow", location=where)
    data = make.data([verdict])
    kernel = make.kernel("softmax-1024", origin=origin, file="kernel.py")
    (line,) = commands(arrange(data.model_copy(update={"kernels": {kernel.id: kernel}})), ROOT)
    return line


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        ("kernels/softmax", "file=kernels/softmax/kernel.py,line=20,"),
        ("kernels/kernel.py", "file=kernels/kernel.py,line=20,"),
        ("/checkout/kernels/softmax", "file=kernels/softmax/kernel.py,line=20,"),
        ("/elsewhere/softmax", ""),
        ("kernels/many.jsonl:17", "file=kernels/many.jsonl,line=17,"),
        ("/checkout/kernels/many.jsonl:17", "file=kernels/many.jsonl,line=17,"),
        ("/elsewhere/many.jsonl:17", ""),
    ],
)
def test_a_failure_is_shown_at_its_line(make, origin, place):
    expected = f"::error {place}title=softmax-1024 on mi300%3A crash::100%25 of it, all: gone now (compiled)"
    assert one(make, origin) == expected


def test_without_a_line_there_is_no_place(make):
    assert one(make, "kernels/softmax", location=False).startswith("::error title=")


def test_a_kernel_of_json_lines_has_a_line_whatever_failed(make):
    assert one(make, "many.jsonl:3", location=False).startswith("::error file=many.jsonl,line=3,title=")


def test_no_more_than_are_shown(view):
    assert len(view.failures) > 1
    assert len(commands(view, ROOT)) == min(MOST, len(view.failures))


@pytest.mark.parametrize("text", [*hostile.TEXTS, "x\n::stop-commands::y", "a,b=c::d%0A::e"], ids=range(19))
def test_hostile_text_is_no_command(make, text):
    for line in commands(arrange(hostile.run(make, text)), ROOT):
        head, _, _message = line[2:].partition("::")
        assert line.startswith("::error ")
        assert line.isprintable()
        assert "%0A" not in line.replace("%250A", "")
        assert {part.partition("=")[0] for part in head.removeprefix("error ").split(",")} <= {
            "file",
            "line",
            "title",
        }
