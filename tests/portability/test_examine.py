"""Files as they come: broken, deep, hostile; and code that carries over, which has to be left alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from torch.utils.hipify.cuda_to_hip_mappings import CUDA_TO_HIP_MAPPINGS

from kernelarena.errors import InputError
from kernelarena.platforms import catalogue
from kernelarena.platforms.dialects import cpp
from kernelarena.platforms.dialects.where import AMD, find
from kernelarena.portability.examine import examine
from kernelarena.portability.gather import gather, sources_of
from kernelarena.portability.source import Grammar, Source
from kernelarena.spec.catalogue import load_tasks
from kernelarena.spec.kernels import load_kernels
from tests.examples.test_generated import EXPECTED, KERNELS, manifest

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = [platform for platform in catalogue.load().values() if platform.limits is not None]


def places(examination):
    return [f"{finding.path}:{finding.line}: {finding.rule}" for finding in examination.findings]


def test_nothing_is_found_in_the_kernels_that_ship():
    paths = [path for path in (ROOT / "tasks").rglob("kernels") if path.is_dir()]
    examination = examine(gather(paths), PLATFORMS)
    assert examination.files >= 12
    assert places(examination) == []


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.id)
def test_generated_kernels_are_found_at_fault_only_where_they_fail(kernel):
    """Of those that pass everywhere nothing is said; of the others no chip on which they pass is named."""
    platforms = [platform for platform in PLATFORMS if platform.id in manifest(kernel)["expect"]]
    passing = {name for name, expected in EXPECTED[kernel.id].items() if expected["status"] == "pass"}
    findings = examine(sources_of([kernel]), platforms).findings
    assert [finding for finding in findings if finding.severity == "error" and passing & set(finding.platforms)] == []


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("add-ptx-fma", "inline-assembly"),
        ("softmax-32-warps", "num-warps"),
        ("fp8-e4m3fn-hard-coded", "float8-flavour"),
    ],
)
def test_generated_kernels_that_carry_a_chip_with_them(name, rule):
    (kernel,) = load_kernels([ROOT / "examples" / "generated" / name], tasks=load_tasks())[0]
    findings = examine(sources_of([kernel]), PLATFORMS).findings
    assert {finding.rule for finding in findings} == {rule}
    assert all("mi300" in finding.platforms and "h100" not in finding.platforms for finding in findings)


def test_headers_of_pytorch_that_build_for_two_vendors():
    """Block and warp reductions, loads and atomics that its build translates and compiles for both."""
    folder = Path(importlib.util.find_spec("torch").origin).parent / "include" / "ATen"
    native = ("block_reduce", "MemoryAccess", "PersistentSoftmax", "Reduce", "SortingCommon")
    shared = [*(f"native/cuda/{name}.cuh" for name in native), "cuda/Atomic.cuh", "cuda/DeviceUtils.cuh"]
    paths = [folder / name for name in shared if (folder / name).exists()]
    assert len(paths) >= 4
    assert places(examine(gather(paths), PLATFORMS)) == []


def test_what_the_translation_to_hip_knows_is_not_said_to_be_missing():
    chip = next(platform for platform in PLATFORMS if platform.backend == AMD)
    known = [name for mapping in CUDA_TO_HIP_MAPPINGS for name in mapping]
    headers = [name for name in known if name.endswith((".h", ".cuh"))]
    assert len(headers) > 50
    said = {name for name in headers if (construct := find(name, cpp.HEADERS)) and construct.lacking(chip)}
    said |= {name for name in known if (construct := find(name, cpp.CALLS)) and construct.lacking(chip)}
    # Names that are translated, of functions that CDNA has no instructions for.
    assert {name for name in said if not name.startswith(("tex", "surf"))} == set()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "k:1: invalid syntax"),
        ("x = 1\nif x\n", "k:2: expected ':'"),
        ("x = '\0'", "k:1: source code"),
        ("-" * 100_000 + "1", "k:1: "),
        ("(" * 10_000 + ")" * 10_000, "k:1: "),
        ("x = " + "+".join(["1"] * 50_000), "k:1: "),
    ],
)
def test_python_that_does_not_parse_is_said_and_the_next_file_is_looked_at(text, said):
    good = Source("good", Grammar.PYTHON, "import pynvml\n")
    examination = examine([Source("k", Grammar.PYTHON, text), good], PLATFORMS)
    (place,) = examination.unreadable
    assert place.startswith(said)
    assert examination.files == 2
    assert places(examination) == ["good:1: vendor-library"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int main( {\n", ["k:1: '(' was never closed"]),
        ("\nvoid f() {\n", ["k:2: '{' was never closed"]),
        ("void f() {}\n}\n", ["k:2: unmatched '}'"]),
        ("void f() {\n  g(1];\n}\n", ["k:2: '(' was never closed"]),
        ("#if 0\n(\n#else\n{\n#endif\n", ["k:4: '{' was never closed"]),
        ("#if A\nvoid f(int x) {\n#else\nvoid f() {\n#endif\n  x = ;\n}\n", []),
        ("#define F(x) /* { */ \\\n  { /* } */ \\\n  (\nint x = ;\n", []),
        (
            'int x = ; // {\nchar a = \'{\', *b = "(\\"(", *c = R"x(()" {)x"; /* [ */ int y = 1\'000\'000; int z[1];\n',
            [],
        ),
    ],
)
def test_cpp_of_which_code_is_swallowed_is_said(text, said):
    assert list(examine([Source("k", Grammar.CPP, text)], PLATFORMS).unreadable) == said


def test_what_of_broken_cpp_could_be_parsed_is_looked_at():
    text = "#include <mma.h>\n__device__ void f() { __syncwarp(0xffffffff); }\nint main( {\n"
    examination = examine([Source("k", Grammar.CPP, text)], PLATFORMS)
    assert examination.unreadable == ("k:3: '(' was never closed",)
    assert places(examination) == ["k:1: vendor-library", "k:2: lane-mask"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "}}}} __global__ (((",
        "#if\n#elif\n#else\n#endif\n#endif\n",
        "#if " + "(" * 5_000 + "1" + ")" * 5_000 + "\n#endif\n",
        "#if " + "||".join(["X"] * 5_000) + "\n#endif\n",
        "#define A B\n#define B A\n__device__ void f() { __syncwarp(A); }",
        "__device__ void f() { __syncwarp(" + "1+" * 5_000 + "1); }",
        "namespace " + "::".join(["n"] * 3_000) + " {}",
        "int x = " + "::".join(["n"] * 3_000) + "::f();",
        "\ufeff\0\x01\r\r\n",
        "/*\n#if 0",
        "#define X \\",
        "#define X " + "x \\\n" * 50_000 + "\nint y;\n",
        "#if " + "A && \\\n" * 5_000 + "1\n#endif\n",
    ],
)
def test_cpp_of_any_kind_is_survived(text):
    examination = examine([Source("k", Grammar.CPP, text)], PLATFORMS)
    assert places(examination) == []


def test_what_is_no_source_is_said(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "latin.cu").write_bytes(b"// \xe4\n")
    said = {
        "gone.cu": "no such file",
        "empty": "holds no source",
        "notes.txt": "no source that",
        "latin.cu": "not UTF-8",
    }
    for name, text in said.items():
        with pytest.raises(InputError, match=f"{name}: {text}"):
            list(gather([tmp_path / name]))


def test_a_file_that_cannot_be_read_does_not_keep_others_from_being_looked_at(tmp_path):
    (tmp_path / "a.cu").write_bytes(b"// \xe4\n")
    (tmp_path / "b.cu").write_text("__device__ void f() { __syncwarp(0xffffffff); }\n")
    examination = examine(gather([tmp_path]), PLATFORMS)
    assert examination.unreadable == (f"{tmp_path}/a.cu: not UTF-8 text (byte 3)",)
    assert (examination.files, places(examination)) == (2, [f"{tmp_path}/b.cu:1: lane-mask"])


@pytest.mark.parametrize(
    ("head", "found"),
    [("#if 0", []), ("#\\\nif 0", []), ("#if \\\n 0", []), ("#if 0 // \\\n || 1", []), ("#if 1", [2])],
)
def test_a_directive_may_go_on_in_the_next_line(head, found):
    text = f"{head}\n__device__ void f() {{ __syncwarp(0xffffffff); }}\n#endif\n"
    assert [finding.line for finding in examine([Source("k", Grammar.CPP, text)], PLATFORMS).findings] == found


def test_a_file_that_is_named_twice_is_looked_at_once(tmp_path):
    (tmp_path / "k.cu").write_text("")
    (tmp_path / "link.cu").symlink_to("k.cu")
    assert [source.path for source in gather([tmp_path / "k.cu", tmp_path])] == [str(tmp_path / "k.cu")]
