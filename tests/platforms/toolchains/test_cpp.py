import os
import stat

import pytest

from kernelarena.platforms.toolchains.cpp import clang, finding, nvcc
from kernelarena.platforms.toolchains.cpp.clang import Clang
from kernelarena.platforms.toolchains.cpp.compiler import Missing
from kernelarena.platforms.toolchains.cpp.diagnostics import MOST_CHARACTERS, Diagnostic, excerpt, first_error
from kernelarena.platforms.toolchains.cpp.entry import signature
from kernelarena.platforms.toolchains.cpp.hip_on_nvcc import HipOnNvcc
from kernelarena.platforms.toolchains.cpp.names import demangled, line_of
from kernelarena.platforms.toolchains.cpp.nvcc import Nvcc
from kernelarena.spec import Language

NVCC = Nvcc("/usr/bin/nvcc", "nvcc 13.0.88", frozenset({"sm_80", "sm_90", "sm_100"}))


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        ('k.cu(12): error: identifier "a" is undefined', Diagnostic('identifier "a" is undefined', "k.cu", 12)),
        ("k.cu(3): error #20-D: no", Diagnostic("no", "k.cu", 3)),
        ("k.cu(3): warning #177-D: unused\nk.cu(4): error: yes", Diagnostic("yes", "k.cu", 4)),
        ("k.hip:4:17: error: expected ';'", Diagnostic("expected ';'", "k.hip", 4)),
        ("a/k.hip:1:10: fatal error: 'x.h' file not found", Diagnostic("'x.h' file not found", "a/k.hip", 1)),
        ("In file included from k.hip:1:\n/usr/x.h:3:1: error: no", Diagnostic("no", "/usr/x.h", 3)),
        ("At end of source: error: expected a \")\"", Diagnostic('expected a ")"')),
        ("ptxas error   : Entry function 'f' uses too much shared data (0x9 bytes)",
         Diagnostic("Entry function 'f' uses too much shared data (0x9 bytes)")),
        ("ptxas /tmp/x.ptx, line 23; error   : Instruction 'a' not supported on .target 'sm_80'",
         Diagnostic("Instruction 'a' not supported on .target 'sm_80'")),
        ("nvcc fatal   : Unsupported gpu architecture 'sm_1'", Diagnostic("Unsupported gpu architecture 'sm_1'")),
        ("lld: error: undefined hidden symbol: f", Diagnostic("undefined hidden symbol: f")),
        ("clang++-19: error: invalid target ID", Diagnostic("invalid target ID")),
        ("fatal error: error in backend: Cannot select: t1", Diagnostic("error in backend: Cannot select: t1")),
        ("k.cu(1): warning: an error: no", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_first_error(printed, error):
    assert first_error(printed) == error


@pytest.mark.parametrize(
    ("message", "is_syntax"),
    [
        ('expected a ";"', True),
        ("extraneous closing brace ('}')", True),
        ('missing terminating " character', True),
        ("use of undeclared identifier 'expected'", False),
        ("no matching function for call to 'f'", False),
    ],
)
def test_what_is_no_cpp_at_all(message, is_syntax):
    assert Diagnostic(message).is_syntax is is_syntax


def test_an_excerpt_is_the_beginning_without_remarks():
    lines = ["ptxas info    : Used 1", *(f"k.cu({index}): error: e" for index in range(10_000))]
    said = excerpt("\n".join(lines), NVCC.is_remark)
    assert said.startswith("k.cu(0)")
    assert len(said) < MOST_CHARACTERS + 50
    kept = said.count("error: e")
    assert said.endswith(f"and {10_000 - kept} lines more")


def test_what_a_kernel_needs_by_ptxas():
    printed = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1fPf' for 'sm_90'
ptxas info    : Function properties for _Z1fPf
    64 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 64 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compiling entry function 'g' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
"""
    needs = NVCC.needs(printed)
    assert list(needs) == ["_Z1fPf", "g"]
    first = needs["_Z1fPf"]
    assert (first.registers, first.spills, first.scratch, first.static_shared) == (32, 10, 64, 1024)
    assert (needs["g"].registers, needs["g"].static_shared) == (8, 0)


def test_what_a_kernel_needs_by_clang():
    compiler = Clang("clang++", "clang 19", "/usr", "/lib")
    values = {
        "SGPRs": 18, "VGPRs": 10, "AGPRs": 4, "ScratchSize [bytes/lane]": 16, "Occupancy [waves/SIMD]": 8,
        "SGPRs Spill": 1, "VGPRs Spill": 3, "LDS Size [bytes/block]": 1024,
    }  # fmt: skip
    end = "[-Rpass-analysis=kernel-resource-usage]"
    lines = [f"k.hip:4:1: remark: Function Name: _Z1fv {end}"]
    lines += [f"k.hip:4:1: remark:     {name}: {value} {end}" for name, value in values.items()]
    needs = compiler.needs("\n".join(lines))["_Z1fv"]
    assert needs.registers == 16  # 10 rounded up to 12, and 4
    assert (needs.scalar_registers, needs.spills, needs.scratch, needs.static_shared) == (18, 3, 16, 1024)
    assert all(map(compiler.is_remark, lines))


def test_architectures():
    assert NVCC.why_not("sm_90") is None
    assert NVCC.why_not("sm_100a") is None
    assert "builds for no sm_70" in NVCC.why_not("sm_70")


def test_what_hip_has_no_name_for():
    compiler = HipOnNvcc("nvcc", "nvcc", frozenset())
    assert "'hipGraphLaunch'" in compiler.lacks(Diagnostic('identifier "hipGraphLaunch" is undefined'))
    assert "'hip/hip_bf16.h'" in compiler.lacks(Diagnostic("hip/hip_bf16.h: No such file or directory"))
    assert compiler.lacks(Diagnostic('identifier "chip" is undefined')) is None


def test_signature():
    wanted = signature("add", [("x", None), ("alpha", 1.0), ("causal", True), ("n", 3)], 2)
    assert str(wanted) == (
        "int add(const ka_tensor *x, double alpha, bool causal, int64_t n, ka_tensor *out0, ka_tensor *out1, "
        "ka_stream stream)"
    )


def test_names():
    assert demangled("_Z3addIfEvPT_") == "add<float>(float*)"
    assert demangled("plain") == "plain"
    assert demangled("_Znonsense") == "_Znonsense"
    text = "void f();\n__global__ void __launch_bounds__(8)\n    f(int x) {}\n"
    assert line_of(text, "f") == 1
    assert line_of(text, "f", after="__global__") == 3
    assert line_of(text, "g") is None


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A host without any compiler."""
    for variable in ("CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "HIP_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(nvcc, "_places", lambda: iter(["nvcc"]))
    monkeypatch.setattr(clang, "_roots", lambda: iter([]))
    finding._compilers.cache_clear()
    yield tmp_path
    finding._compilers.cache_clear()


@pytest.mark.parametrize(
    ("language", "arch", "install"),
    [
        (Language.CUDA, "sm_90", "CUDA toolkit"),
        (Language.HIP, "gfx942", "ROCM_PATH"),
        (Language.CUDA, "gfx942", "ROCM_PATH"),
        (Language.HIP, "sm_90", "CUDA toolkit"),
    ],
)
def test_a_host_without_compilers(bare, language, arch, install):
    with pytest.raises(Missing, match=install) as caught:
        finding.find(language, arch)
    assert "\n" not in str(caught.value)
    assert finding.identity(language, arch) == ""


def test_what_no_compiler_can_be_found_for(bare):
    with pytest.raises(Missing, match="nothing compiles cuda for ascend910b"):
        finding.find(Language.CUDA, "ascend910b")


def test_one_that_is_too_old_says_so(bare):
    program = bare / "nvcc"
    program.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "release 9.0, V9.0.176" || echo sm_60\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    os.environ["PATH"] += ":/bin"
    assert finding.find(Language.CUDA, "sm_60").version == "nvcc 9.0.176"
    with pytest.raises(Missing, match=r"nvcc 9\.0\.176 builds for no sm_90; install a CUDA toolkit that does"):
        finding.find(Language.CUDA, "sm_90")
