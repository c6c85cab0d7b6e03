"""What the page on emulation says of coverage is what the code has."""

from __future__ import annotations

from pathlib import Path

from kernelarena.platforms.emulator import TARGETS, load
from kernelarena.platforms.emulator.coverage import coverage, table
from kernelarena.platforms.emulator.fault import FaultKind
from tests.platforms.emulator.assembled import text

PAGE = Path(__file__).parents[3] / "docs" / "emulation.md"


def test_the_table_is_the_one_that_the_code_makes():
    written = PAGE.read_text().partition("<!-- coverage -->")[2].partition("<!-- end of coverage -->")[0]
    made = table(TARGETS)
    assert written.strip() == made.strip(), f"docs/emulation.md: put this between its marks:\n{made}"


def test_every_kind_of_fault_is_explained():
    kinds = {kind.value for kind in FaultKind} - {"unsupported"}
    assert {kind for kind in kinds if f"`{kind}`" not in PAGE.read_text()} == set()


def test_what_is_said_to_be_known_of_scalar_memory_is():
    covered = coverage("gfx942")
    for name in covered["scalar memory"]:
        count = int(name.partition("dword")[2].removeprefix("x") or 1)
        target = "4" if count == 1 else f"4:{3 + count}"
        base = "s[0:3]" if "buffer" in name else "s[0:1]"
        assert load(text(f"{name} s[{target}], {base}, 0x0\ns_endpgm")).unsupported == (), name
