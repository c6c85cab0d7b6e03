"""``kab-mc platforms`` as a user sees it: on a terminal or not, as a table or as JSON."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from kernelarena.cli import run
from kernelarena.cli.page import binary, si
from kernelarena.cli.platforms import platforms
from kernelarena.platforms.catalogue import load
from kernelarena.platforms.doctor import SCHEMA, Diagnosis

PLATFORMS = load()
NEW = """\
id: a-chip-with-rather-a-long-name
title: A chip [of] the test
vendor: someone
backend: nobody
arch: arch-of-it
ray: {resource: "platform:a-chip-with-rather-a-long-name"}
source: {title: "A data sheet"}
"""


def invoke(*arguments: str, columns: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(platforms, arguments, catch_exceptions=False)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a-chip-with-rather-a-long-name.yaml").write_text(NEW)
    return tmp_path


def test_the_list_has_one_entry_a_platform_and_fits_eighty_columns() -> None:
    result = invoke("list")
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    table, reasons = result.output.split("why not more")
    rows = {line.split()[0]: line for line in table.splitlines()[1:] if line[:1].strip()}
    assert set(rows) == set(PLATFORMS)
    for id_, row in rows.items():
        assert PLATFORMS[id_].arch in row
        mark = re.search(r"\[\d+\]$", row.strip())
        assert mark is not None, "nothing is measured yet, so every platform has a reason"
        assert mark[0] in reasons


def test_the_list_as_json_says_the_same() -> None:
    listed = json.loads(invoke("list", "--json").output)
    assert [entry["id"] for entry in listed] == sorted(PLATFORMS)
    evidence = {entry["id"]: entry["evidence"] for entry in listed}
    assert "measured" not in {word for found in evidence.values() for word in found}
    assert evidence["cpu"] == ["emulated"]
    assert evidence["mi300"] == ["emulated", "compiled"]
    assert evidence["h100"] == ["compiled"]
    assert evidence["ascend910b"] == []
    assert all(entry["why_not"] for entry in listed)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_chip_of_the_users_own_is_listed_with_its_whole_id(folder: Path, columns: int) -> None:
    output = invoke("list", "--platforms-dir", str(folder), columns=columns).output
    assert "a-chip-with-rather-a-long-name" in output
    assert "mi300" in output


def test_square_brackets_are_text_and_not_markup(folder: Path) -> None:
    output = invoke("show", "a-chip-with-rather-a-long-name", "--platforms-dir", str(folder)).output
    assert "A chip [of] the test" in output
    assert "'nobody'" in words(output)


@pytest.mark.parametrize("id_", PLATFORMS)
def test_every_platform_can_be_shown(id_: str) -> None:
    platform = PLATFORMS[id_]
    result = invoke("show", id_)
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    text = words(result.output)
    assert platform.title in text
    for source in platform.source:
        assert words(source.title) in text
    if platform.notes:
        assert words(platform.notes) in text
    shown = json.loads(invoke("show", id_, "--json").output)
    assert shown.items() >= platform.model_dump(mode="json", exclude_none=True).items()


def test_figures_carry_units_that_people_read() -> None:
    text = words(invoke("show", "mi300x").output)
    for figure in ("64 lanes", "64 KiB", "512 x 32 bit", "192 GiB", "5.3 TB/s", "256 MiB", "1.3074 PFLOP/s"):
        assert figure in text
    assert "float8_e4m3 float8_e4m3fnuz" in text
    assert "2.6149 POP/s" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "mi30"), "kab-mc: unknown platform 'mi30': did you mean 'mi300'"),
        (("show", "mi300,h100"), "kab-mc: 'mi300,h100' names 2 platforms: show takes one at a time"),
        (("list", "--platforms-dir", "nowhere"), "kab-mc: nowhere: no such folder"),
    ],
)
def test_mistakes_are_one_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert run(["platforms", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(message)
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("command", [(), ("list",), ("show",)])
def test_help_has_an_example(command: tuple[str, ...]) -> None:
    assert "kab-mc platforms" in invoke(*command, "--help").output


@given(st.integers(1, 2**45))
def test_bytes_read_back(count: int) -> None:
    number, unit = binary(count).split()
    factor = 1024 ** ["B", "KiB", "MiB", "GiB", "TiB"].index(unit)
    assert abs(float(number) * factor - count) <= 0.00501 * factor
    assert 1 <= float(number) <= 1024


@given(st.floats(1, 1e17))
def test_decimal_prefixes_read_back(value: float) -> None:
    number, _, prefix = si(value).partition(" ")
    factor = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}[prefix]
    assert math.isclose(float(number) * factor, value, rel_tol=1e-5)


def diagnosis(*arguments: str, code: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(
        platforms, ["doctor", *arguments, "--json"], catch_exceptions=False, standalone_mode=False
    )
    assert result.return_value == code
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_doctor_looks_at_every_platform_where_no_driver_is() -> None:
    found = diagnosis()
    assert found.pop("schema") == SCHEMA
    assert Diagnosis.model_validate(found)
    assert {platform["id"] for platform in found["platforms"]} == set(PLATFORMS)
    assert found["devices"] == []
    assert {finding["check"] for finding in found["host"]} >= {"python", "torch", "triton", "/dev/shm", "isolation"}
    for runtime in found["runtimes"]:
        (driver,) = [each for each in runtime["findings"] if each["check"] == "driver"] or [None]
        if runtime["backend"] != "cpu":
            assert (driver["state"], bool(driver["remedy"])) == ("missing", True)


@pytest.mark.parametrize(("names", "code"), [(["mi300"], 3), (["cpu"], 0), (["cpu", "h100,mi300"], 3)])
def test_a_platform_that_is_named_and_cannot_be_measured_is_exit_three(names: list[str], code: int) -> None:
    found = diagnosis(*names, code=code)
    named = {name for item in names for name in item.split(",")}
    assert {platform["id"] for platform in found["platforms"]} == named
    for platform in found["platforms"]:
        assert platform["why_not"]


def test_what_the_doctor_says_fits_eighty_columns() -> None:
    result = invoke("doctor")
    assert max(map(len, result.output.splitlines())) <= 80
    assert "no /dev/kfd" in result.output
    assert "→ pip install 'kernelarena[rocm]'" in result.output


def test_a_backend_that_is_not_installed_is_what_is_missing(folder: Path) -> None:
    found = diagnosis("a-chip-with-rather-a-long-name", "--platforms-dir", str(folder), code=3)
    assert found["runtimes"][0]["findings"][0]["check"] == "backend"


def test_what_the_emulator_of_a_chip_knows_is_shown() -> None:
    shown = json.loads(invoke("show", "mi300", "--json").output)
    assert "v_mfma_f32_32x32x8_f16" in shown["emulator"]["matrix"]
    assert "emulator" not in json.loads(invoke("show", "h100", "--json").output)
    assert "modelled by the emulator" in invoke("show", "mi300").output


def test_describing_what_a_backend_finds_takes_a_backend(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platforms", "describe", "--backend", "rocn"]) == 2
    assert "--backend 'rocn': there is no backend of that name; did you mean 'rocm'" in capsys.readouterr().err


def test_where_no_device_is_there_is_none_to_describe(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["platforms", "describe"]) == 3
    assert "no backend finds a device" in capsys.readouterr().err
