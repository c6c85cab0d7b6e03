"""What the distribution promises: metadata, and the data files inside the wheel."""

import ast
import re
import sys
from pathlib import Path

import pytest

from kernelarena.platforms.backend import backend_named
from kernelarena.platforms.doctor.vendors import VENDORS
from kernelarena.platforms.telemetry.probe import Probe, probe_class

ROOT = Path(__file__).resolve().parent.parent
if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def names(requirements):
    return {re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


def test_installing_never_replaces_the_triton_of_a_rocm_host():
    """Builds of torch for ROCm bring a distribution of Triton that owns the same files as PyPI's."""
    assert not {name for name in names(PROJECT["dependencies"]) if "triton" in name}
    assert not {name for name in names(PROJECT["optional-dependencies"]["rocm"]) if "triton" in name}
    assert "triton" in names(PROJECT["optional-dependencies"]["triton"])
    assert "triton" in names(PROJECT["optional-dependencies"]["cuda"])


@pytest.mark.parametrize("backend", sorted(VENDORS))
def test_a_vendors_extra_brings_the_library_that_the_doctor_asks_for(backend):
    """What it says to do is ``pip install 'kernelarena[<backend>]'``."""
    _, distribution = VENDORS[backend].management
    assert distribution in names(PROJECT["optional-dependencies"][backend])
    assert f"`{distribution}`" in (ROOT / "README.md").read_text()
    assert issubclass(probe_class(backend_named(backend).telemetry), Probe)


def test_every_import_of_the_package_is_a_dependency():
    distributions = {"yaml": "pyyaml", "vl_convert": "vl-convert-python", "tree_sitter": "tree-sitter"}
    distributions["tree_sitter_cuda"] = "tree-sitter-cuda"
    declared = names(PROJECT["dependencies"]) | names(PROJECT["optional-dependencies"]["triton"])
    found = set()
    for path in (ROOT / "kernelarena").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    third_party = found - sys.stdlib_module_names - {"kernelarena", "__future__", "_typeshed"}
    optional = {"pynvml", "amdsmi", "liger_kernel", "pytest"}
    assert {distributions.get(name, name) for name in third_party - optional} <= declared


def test_supported_pythons_are_declared():
    assert PROJECT["requires-python"] == ">=3.10"
    for minor in range(10, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in PROJECT["classifiers"]


def test_the_license_is_there():
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text()
