"""The rules of the layout: imports go one way, no vendor is named outside ``platforms``, start-up stays light."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "kernelarena"
ORDER = [
    "errors",
    "spec",
    "platforms",
    "portability",
    "protocol",
    "judge",
    "cluster",
    "store",
    "metrics",
    "report",
    "cli",
    "testing",
]
ALONE = {"store": {"errors", "spec"}, "metrics": {"errors", "spec"}}
MODULES = sorted(PACKAGE.rglob("*.py"))
VENDORS = re.compile(
    r"\b(nvidia|amd|rocm|hip|gfx\d+\w*|sm_\d+|mi[123]\d\d\w?|[ahb][12]00|cuda_?core|hopper|cdna)\b", re.I
)
LANGUAGE_NAMES = {"hip", "cuda", ".hip"}  # languages of the vocabulary and their files, not vendors


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    here = layer(path)
    if here == "__init__":
        return
    allowed = ALONE.get(here, set(ORDER[: ORDER.index(here)])) | {here}
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [
                f"{node.module}.{alias.name}" if node.module == "kernelarena" else node.module for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "kernelarena" and len(parts) > 1 and parts[1] in ORDER:
                assert parts[1] in allowed, f"{here} imports {name} (line {node.lineno})"


@pytest.mark.parametrize(
    "path", [path for path in MODULES if layer(path) != "platforms"], ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_no_vendor_is_named_outside_platforms(path):
    """In code; docstrings, help texts and comments may give examples."""
    for node in ast.walk(ast.parse(path.read_text())):
        words = []
        if isinstance(node, ast.Name):
            words = node.id.split("_")
        elif isinstance(node, ast.Attribute):
            words = node.attr.split("_")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            words = [node.value]
        for word in words:
            found = VENDORS.search(word)
            assert not found or word.lower() in LANGUAGE_NAMES, f"{word!r} (line {node.lineno})"


def test_the_command_line_starts_without_heavy_imports():
    script = (
        "import sys, kernelarena.cli, kernelarena.cli.commands, kernelarena.cli.sweep, kernelarena.cli.check\n"
        "heavy = {'torch', 'triton', 'ray', 'pandas', 'numpy', 'pyarrow'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_files_can_be_read_in_a_sitting():
    assert [str(path) for path in MODULES if len(path.read_text().splitlines()) > 450] == []
