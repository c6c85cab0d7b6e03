from __future__ import annotations

import struct
from xml.etree import ElementTree

import pytest

from kernelarena.errors import InputError
from kernelarena.report.figures import MAKERS, export
from kernelarena.report.view import arrange
from tests.report import runs


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    paths, missing = export.write(arrange(runs.measured()), tmp_path_factory.mktemp("figures") / "new")
    assert not missing
    return {path.name: path for path in paths}


def test_each_figure_is_there_in_both_forms(written):
    assert written.keys() == {f"{module.ID}.{form}" for module in MAKERS for form in ("svg", "png")}


def test_a_drawing_says_what_it_shows(written):
    root = ElementTree.fromstring(written["fast.svg"].read_text())
    text = " ".join(root.itertext())
    assert "How many kernels are right and fast?" in text
    assert "evidence: measured" in text
    assert "var(" not in written["fast.svg"].read_text(), "its colours need no style sheet"


def test_pictures_are_sharp_enough_for_print(written):
    data = written["cascade.png"].read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert width > 1_400
    assert height > 500


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, make):
    (tmp_path / "file").write_text("")
    view = arrange(make.data([make.verdict("rope-half", "mi300")]))
    with pytest.raises(InputError, match="cannot be made"):
        export.write(view, tmp_path / "file" / "figures")
    with pytest.raises(InputError, match="cannot be made"):
        export.write(arrange(make.data([])), tmp_path / "file" / "figures")  # also where there is nothing to write
