"""Kernels in C++: one honest one, and one edit of it for every way to fail."""

import dataclasses
import itertools
import re

import pytest

from kernelarena.judge import sandbox
from kernelarena.judge.cpp import judge_cpp
from kernelarena.judge.enclosure.visible import view
from kernelarena.judge.judge import Judge
from kernelarena.judge.outline import compile_job
from kernelarena.judge.zygote import Mode, Zygote
from kernelarena.platforms.backend import availability
from kernelarena.platforms.rocm import RocmBackend
from kernelarena.platforms.toolchains import built as handed
from kernelarena.platforms.toolchains import cpp
from kernelarena.platforms.toolchains.cpp.compiler import INCLUDE, RECORDER
from kernelarena.platforms.toolchains.cpp.entry import source
from kernelarena.platforms.toolchains.cpp.objects import Objects
from kernelarena.protocol.compile_cpp import signature_of
from kernelarena.protocol.compile_unit import Unit
from kernelarena.spec import Evidence, Gate, Kernel, Language, Reason, Status
from kernelarena.spec.sweep import Deadlines
from tests.judge.test_judge import ADD_ONE, SMALL

HONEST = """\
#include <ka_elements.h>
#include <kernelarena.h>

template <typename T>
__global__ void add_one(const T *x, T *y, int64_t n) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) ka_store(&y[i], ka_load(x[i]) + 1.0f);
}

template <typename T>
void launch(const ka_tensor *x, ka_tensor *y, int64_t n, hipStream_t stream) {
  add_one<T><<<(unsigned)((n + 255) / 256), 256, 0, stream>>>((const T *)x->data, (T *)y->data, n);
}

int entry(const ka_tensor *x, ka_tensor *y, ka_stream given) {
  hipStream_t stream = (hipStream_t)given;
  int64_t n = 1;
  for (int d = 0; d < x->ndim; d++) n *= x->size[d];
  if (x->dtype == KA_FLOAT32) launch<float>(x, y, n, stream);
  if (x->dtype == KA_FLOAT16) launch<__half>(x, y, n, stream);
  return hipGetLastError();
}
"""
LAUNCH = "256, 0, stream>>>"
STORE = "if (i < n) ka_store(&y[i], ka_load(x[i]) + 1.0f);"
KERNEL, INCLUDED, ENTRY = "__global__ void add_one", "#include <ka_elements.h>", "int entry("
RAISE = "hipFuncSetAttribute((const void *)add_one<T>, hipFuncAttributeMaxDynamicSharedMemorySize, 100000);\n"
STATIC = """__shared__ float tile[30000];
  tile[threadIdx.x] = ka_load(x[0]);
  __syncthreads();
  ka_store(&y[0], tile[n % 256]);"""
ENDLESS = """
template <int N, int M> struct Deep {
  static constexpr long value = Deep<N - 1, 2 * M>::value + Deep<N - 1, 2 * M + 1>::value;
};
template <int M> struct Deep<0, M> { static constexpr long value = M; };
constexpr long all = Deep<24, 1>::value;
"""
BY_LABEL = "cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), 1);"
ERRORS = "\n".join(f"int wrong_{index} = nothing_{index};" for index in range(10_000))


def built(platform):
    arch = {"mi300": "gfx942", "mi250": "gfx90a", "h100": "sm_90", "a100": "sm_80"}[platform]
    try:
        cpp.find(Language.HIP, arch)
    except cpp.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def zygote():
    zygote = Zygote(Mode.COMPILE)
    yield zygote
    zygote.close()


def submission(source, language="hip", **files):
    file = {"hip": "kernel.hip", "cuda": "kernel.cu"}[language]
    return Kernel(
        id="under-test", task="add_one", language=language, file=file, function="entry",
        files={file: source, **files}, origin="a test",
    )  # fmt: skip


@pytest.fixture
def judged(zygote, platforms):
    def judge(source, platform, language="hip", **changes):
        chip = platforms[platform]
        sweep = SMALL.model_copy(update=changes)
        return judge_cpp(lambda: zygote, submission(source, language), ADD_ONE, chip, sweep, availability(chip))[0]

    return judge


def edited(*edits):
    source = HONEST
    for old, new in edits:
        assert old in source
        source = source.replace(old, new, 1)
    return source


@pytest.mark.parametrize("platform", ["mi300", "h100"])
def test_an_honest_kernel_passes(judged, platform):
    built(platform)
    found = judged(HONEST, platform)
    assert (found["status"], found["evidence"], found["detail"]) == (Status.PASS, Evidence.COMPILED, "")
    assert found["visible"].passed == found["visible"].total > 0
    launch = found["launches"][0]
    assert launch.kernel.startswith("add_one<")
    assert launch.location.text == f"{KERNEL}(const T *x, T *y, int64_t n) {{"
    assert launch.resources.threads_per_block == 256
    assert 0 < launch.resources.registers < 64
    assert found["toolchain"].startswith(("nvcc ", "clang "))


def test_the_same_in_cuda(judged):
    built("h100")
    assert judged(HONEST.replace("hip", "cuda"), "h100", "cuda")["status"] is Status.PASS


@pytest.mark.parametrize(
    ("edits", "platform", "reason", "detail", "line"),
    [
        pytest.param([(STORE, STORE.rstrip(";"))], "h100", Reason.SYNTAX_ERROR, 'expected a ";"', "}", id="syntax"),
        pytest.param(
            [(STORE, STORE.rstrip(";"))], "mi300", Reason.SYNTAX_ERROR, "expected ';'", "ka_load", id="syntax-amd"
        ),
        pytest.param(
            [("x[i]", "z[i]")], "h100", Reason.COMPILE_ERROR, 'identifier "z" is undefined', "z[i]", id="name"
        ),
        pytest.param(
            [("x[i]", "z[i]")], "mi300", Reason.COMPILE_ERROR, "undeclared identifier 'z'", "z[i]", id="name-amd"
        ),
        pytest.param(
            [(INCLUDED, "#include <nowhere.h>")],
            "mi300",
            Reason.COMPILE_ERROR,
            "'nowhere.h' file not found",
            "nowhere",
            id="include",
        ),
        pytest.param(
            [(INCLUDED, INCLUDED + "\n" + ERRORS)], "mi300", Reason.COMPILE_ERROR, "nothing_0", "wrong_0", id="many"
        ),
        pytest.param(
            [(ENTRY, "int other(")],
            "h100",
            Reason.IMPORT_ERROR,
            "declares no function 'entry'; write `int entry(const ka_tensor *x, ka_tensor *out, ka_stream stream)`",
            None,
            id="entry",
        ),
        pytest.param(
            [
                ("const ka_tensor *x, ka_tensor *y, ka_stream given", "const ka_tensor *x, float *y, ka_stream given"),
                ("launch<float>(x, y, n, stream)", "(void)y"),
                ("launch<__half>(x, y, n, stream)", "(void)y"),
            ],
            "mi300",
            Reason.COMPILE_ERROR,
            "the entry is not `int entry(const ka_tensor *x, ka_tensor *out",
            ENTRY,
            id="signature",
        ),
        pytest.param(
            [(LAUNCH, LAUNCH.replace("256", "2048"))],
            "mi300",
            Reason.RESOURCE_EXCEEDED,
            "2048 threads per block",
            KERNEL,
            id="threads",
        ),
        pytest.param(
            [(STORE, STATIC)], "mi300", Reason.RESOURCE_EXCEEDED, "local memory (120000) exceeds", KERNEL, id="static"
        ),
        pytest.param(
            [(STORE, STATIC)], "h100", Reason.RESOURCE_EXCEEDED, "too much shared data", None, id="static-nvidia"
        ),
        pytest.param(
            [(LAUNCH, "256, 100000, stream>>>")],
            "mi300",
            Reason.RESOURCE_EXCEEDED,
            "of shared memory per block",
            KERNEL,
            id="dynamic",
        ),
        pytest.param(
            [(LAUNCH, "256, 60000, stream>>>")],
            "h100",
            Reason.LAUNCH_ERROR,
            "unless the function's limit is raised",
            None,
            id="not-raised",
        ),
        pytest.param(
            [("  if (x->dtype == KA_FLOAT32)", "  return 0;\n  if (x->dtype == KA_FLOAT32)")],
            "mi300",
            Reason.NO_DEVICE_KERNEL,
            "without launching a device kernel",
            None,
            id="nothing-launched",
        ),
        pytest.param(
            [("int64_t n = 1;", "int64_t n = (int64_t)((const float *)x->data)[0];")],
            "mi300",
            Reason.ILLEGAL_ACCESS,
            "",
            None,
            id="host-reads-device-memory",
        ),
        pytest.param(
            [("return hipGetLastError", "return 7 + hipGetLastError")],
            "mi300",
            Reason.LAUNCH_ERROR,
            "the entry returned 7",
            None,
            id="returns-an-error",
        ),
        pytest.param(
            [
                (INCLUDED, INCLUDED + '\nextern "C" int blas_gemm(void *);'),
                ("int64_t n = 1;", "int64_t n = blas_gemm(given);"),
            ],
            "mi300",
            Reason.COMPILE_ERROR,
            "'blas_gemm' is neither in its sources nor",
            None,
            id="library",
        ),
        pytest.param(
            [(STORE, 'asm volatile("wgmma.fence.sync.aligned;");')],
            "a100",
            Reason.UNSUPPORTED_FEATURE,
            "wgmma.fence",
            None,
            id="instruction",
        ),
        pytest.param(
            [("int64_t n = 1;", "int64_t n = 1; hipGraphDestroy(nullptr);")],
            "h100",
            Reason.UNSUPPORTED_FEATURE,
            "'hipGraphDestroy' is not carried over",
            None,
            id="hip-only",
        ),
    ],
)
def test_a_fault_has_one_reason(judged, edits, platform, reason, detail, line):
    built(platform)
    found = judged(edited(*edits), platform)
    assert (found["status"], found["reason"]) == (Status.FAIL, reason), found["detail"]
    assert detail in found["detail"]
    assert "\n" not in found["detail"]
    assert found["evidence"] is Evidence.COMPILED
    if line is not None:
        assert line in found["location"].text
    assert len(found["log"]) < 20_000


def test_dynamic_shared_memory_that_was_asked_for(judged):
    """What the launch above lacks, and what the other chip has not at any price."""
    built("h100")
    source = edited(("  add_one<T><<<", f"  {RAISE}  add_one<T><<<"), (LAUNCH, "256, 100000, stream>>>"))
    found = judged(source, "h100")
    assert found["status"] is Status.PASS
    assert found["resources"].shared_memory == 100_000


def test_a_build_that_does_not_end(judged):
    built("mi300")
    found = judged(edited((INCLUDED, INCLUDED + ENDLESS)), "mi300", deadlines=Deadlines(compile=4))
    assert found["reason"] is Reason.COMPILE_TIMEOUT
    assert "kernel.hip" in found["detail"]


def test_nothing_is_read_from_the_host(judged, tmp_path):
    """What a source includes is looked for where a compiler and the kernel are, and nowhere else."""
    built("mi300")
    secret = tmp_path / "secret.h"
    secret.write_text("#error the secret\n")
    found = judged(edited((INCLUDED, f'#include "{secret}"')), "mi300")
    assert found["reason"] is Reason.COMPILE_ERROR
    assert "the secret" not in found["detail"] + found["log"]


def test_a_language_that_a_vendor_does_not_have(monkeypatch, platforms):
    monkeypatch.setattr(RocmBackend, "languages", (Language.TRITON, Language.HIP))
    with Judge() as judge:
        verdict = judge.judge(submission(HONEST, "cuda"), ADD_ONE, platforms["mi300"], SMALL, 1)
    assert (verdict.reason, verdict.gate) == (Reason.UNSUPPORTED_FEATURE, Gate.COMPILE)
    assert "write it in 'hip'" in verdict.detail


def test_cuda_is_translated_for_who_has_hip(judged):
    """Its lines stay where they are, and what was changed is kept."""
    built("mi300")
    source = HONEST.replace("hip", "cuda")
    found = judged(source, "mi300", "cuda")
    assert (found["status"], found["detail"]) == (Status.PASS, "")
    assert re.search(r"clang .* and torch .*'s hipify", found["toolchain"])
    assert "translated from 'cuda' by torch" in found["notes"][0]
    assert "-  return cudaGetLastError();\n+  return hipGetLastError();" in found["log"]
    assert found["launches"][0].location.text == f"{KERNEL}(const T *x, T *y, int64_t n) {{"


@pytest.mark.parametrize(
    ("edit", "detail", "line"),
    [
        pytest.param(
            ("int64_t n = 1;", "int64_t n = 1; cudaGridDependencySynchronize();"),
            "'cudaGridDependencySynchronize' is not carried over from CUDA to HIP",
            "cudaGridDependencySynchronize",
            id="name",
        ),
        pytest.param(
            (INCLUDED, f"{INCLUDED}\n#include <cusparseLt.h>"),
            "'hipsparselt/hipsparselt.h', which a header of CUDA's is",
            "cusparseLt",
            id="library",
        ),
        pytest.param(
            (INCLUDED, f"{INCLUDED}\n#include <cooperative_groups.h>\n__device__ void f() {{ {BY_LABEL} }}"),
            "'labeled_partition' is not carried over from CUDA to HIP",
            "labeled_partition",
            id="group",
        ),
        pytest.param(
            (STORE, 'asm volatile("cp.async.commit_group;");'), "inline assembly of another chip", "cp.async", id="ptx"
        ),
    ],
)
def test_what_has_no_translation_is_named(judged, edit, detail, line):
    built("mi300")
    source = HONEST.replace("hip", "cuda").replace(*edit, 1)
    found = judged(source, "mi300", "cuda")
    assert (found["status"], found["reason"]) == (Status.FAIL, Reason.UNSUPPORTED_FEATURE), found["detail"]
    assert detail in found["detail"]
    assert line in found["location"].text


def test_on_a_processor_nothing_is_said(platforms):
    with Judge() as judge:
        verdict = judge.judge(submission(HONEST), ADD_ONE, platforms["cpu"], SMALL, 1)
    assert (verdict.status, verdict.evidence) == (Status.SKIPPED, None)


def test_without_a_compiler_it_is_nobodys_fault(judged, monkeypatch):
    def find(language, arch):
        raise cpp.Missing("no compiler; install one")

    monkeypatch.setattr(cpp, "find", find)
    found = judged(HONEST, "mi300")
    assert (found["status"], found["reason"]) == (Status.INFRA, Reason.TOOLCHAIN_MISSING)
    assert found["detail"] == "no compiler; install one"


def test_the_cache_knows_the_answer(judged, monkeypatch, tmp_path):
    built("mi300")
    monkeypatch.setattr("kernelarena.protocol.compile_cache.cache_dir", lambda: tmp_path)
    first, second = judged(HONEST, "mi300", cache=True), judged(HONEST, "mi300", cache=True)
    assert (first.pop("cached"), second.pop("cached")) == (False, True)
    assert first == second


def test_what_the_gate_compiled_is_not_compiled_again(zygote, platforms, tmp_path):
    """Neither the kernel's unit nor what it is linked with, by a compiler that would fail at either."""
    built("mi300")
    chip, kernel = platforms["mi300"], submission(HONEST)
    _, files = judge_cpp(lambda: zygote, kernel, ADD_ONE, chip, SMALL, availability(chip))
    assert {name.partition("/")[2] for name in files} >= {"unit.o", "needs.json", "recorder.o"}
    handed.lay(files, tmp_path / "built")
    objects = Objects(tmp_path / "built")
    compiler = cpp.find(Language.HIP, chip.arch)
    assert objects.host(compiler, RECORDER) is not None

    class Spent(type(compiler)):
        unit = None

    spent = Spent(**{field.name: getattr(compiler, field.name) for field in dataclasses.fields(compiler)})
    job = compile_job(kernel, ADD_ONE, chip)
    text = source(compiler, signature_of(job), kernel.file)

    def library(name, unit):
        scratch = tmp_path / name
        scratch.mkdir()
        ours = Unit(job, spent, kernel.files, tmp_path, lambda event: None, scratch, itertools.count(), objects)
        return ours.build(unit, [INCLUDE]).read_bytes()

    assert b"add_one" in library("same", text)
    with pytest.raises(TypeError, match="NoneType"):
        library("other", text + "// another\n")


def test_a_toolkit_that_a_variable_names_is_shown_to_what_builds(monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", "relative/and/so/nowhere")
    assert sandbox.environment()["CUDA_HOME"] == str(tmp_path)
    assert str(tmp_path) in view().read_only
    assert not any("nowhere" in path for path in view().read_only)
    assert str(tmp_path) not in view(private=[str(tmp_path)]).read_only
