from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernelarena.report.excerpt import Line, excerpt
from kernelarena.spec import Location


def test_the_line_comes_with_its_neighbours(make):
    kernel = make.kernel("softmax-1024", files={"kernel.py": "a\nb\nc\r\nd\ne\n"})
    assert excerpt(kernel, Location(file="kernel.py", line=3), around=1) == [
        Line(2, "b", False),
        Line(3, "c", True),
        Line(4, "d", False),
    ]


def test_lines_are_counted_as_compilers_count_them(make):
    kernel = make.kernel("softmax-1024", files={"kernel.py": "a\x0cb\u2028c\nd"})
    (line,) = excerpt(kernel, Location(file="kernel.py", line=2), around=0)
    assert line == Line(2, "d", True)


def test_a_line_that_the_sources_do_not_have_is_shown_as_the_verdict_has_it(make):
    kernel = make.kernel("softmax-1024")
    assert excerpt(kernel, Location(file="generated.py", line=7, text="x = 1")) == [Line(7, "x = 1", True)]
    assert excerpt(kernel, Location(file="kernel.py", line=10**9, text="x")) == [Line(10**9, "x", True)]
    assert excerpt(None, Location(file="kernel.py", line=1)) == []
    assert excerpt(kernel, None) == []


@given(st.lists(st.text(max_size=8).filter(lambda t: "\n" not in t), min_size=1), st.data())
def test_exactly_one_line_is_the_hit(make, lines, data):
    number = data.draw(st.integers(1, len(lines)))
    found = excerpt(
        make.kernel("softmax-1024", files={"k.py": "\n".join(lines) + "\n"}), Location(file="k.py", line=number)
    )
    assert [line.number for line in found if line.hit] == [number]
    assert [line.number for line in found] == list(range(found[0].number, found[-1].number + 1))
