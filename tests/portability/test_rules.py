"""Every rule by its page: what the page says breaks is found, and what it says carries over is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelarena.platforms import catalogue
from kernelarena.portability.examine import examine
from kernelarena.portability.rules import RULES
from kernelarena.portability.source import Grammar, Source

PAGES = Path(__file__).resolve().parents[2] / "docs" / "rules"
PLATFORMS = [platform for platform in catalogue.load().values() if platform.limits is not None]
WIDE = ("mi250", "mi300", "mi355")
HIP = (*WIDE, "rx7900")
FENCE = re.compile(r"^## (Breaks|Carries over)\n+```(cpp|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def found(text, grammar=Grammar.CPP, platforms=PLATFORMS):
    examination = examine([Source("kernel", grammar, text)], platforms)
    assert not examination.unreadable
    return examination.findings


def rules(text, grammar=Grammar.CPP, platforms=PLATFORMS):
    return sorted({finding.rule for finding in found(text, grammar, platforms)})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_examples_of_its_page(rule):
    examples = {
        heading: (Grammar.CPP if language == "cpp" else Grammar.PYTHON, text)
        for heading, language, text in FENCE.findall((PAGES / f"{rule.id}.md").read_text())
    }
    grammar, text = examples["Breaks"]
    findings = found(text, grammar)
    assert {finding.rule for finding in findings} == {rule.id}
    for finding in findings:
        assert finding.text == text.split("\n")[finding.line - 1]
        assert finding.severity is rule.severity
        assert 0 < len(finding.platforms) < len(PLATFORMS)
        assert (finding.line, finding.column) < (finding.end_line, finding.end_column)
    assert rules(examples["Carries over"][1], grammar) == []


def test_there_is_a_page_for_each_and_the_list_is_whole():
    pages = {path.stem for path in PAGES.glob("*.md")} - {"README"}
    assert pages == {rule.id for rule in RULES}
    listed = re.findall(r"^\| \[([\w-]+)\]\(\1\.md\) \| (.*) \|$", (PAGES / "README.md").read_text(), re.MULTILINE)
    assert listed == [(rule.id, rule.summary) for rule in RULES]


KERNEL = "__global__ void k(float* x, int* y) {{ {} }}"


@pytest.mark.parametrize(
    ("mask", "platforms"),
    [
        ("0xffffffff", HIP),
        ("0xFFFF'FFFFu", HIP),
        ("-1", HIP),
        ("~0u", HIP),
        ("(unsigned)-1", HIP),
        ("0xff", HIP),
        ("FULL", HIP),
        ("m", HIP),
        ("given", HIP),
        ("0xffffffffull", WIDE),
        ("(1ull << 32) - 1", WIDE),
        ("static_cast<uint64_t>(0xffffffff)", WIDE),
        ("typed", WIDE),
        ("typed | 1", WIDE),
    ],
)
def test_a_mask_of_half_the_lanes_or_half_the_bits_however_it_is_written(mask, platforms):
    """Half of the bits are too few wherever the functions ask for 64; half of the lanes, where a warp has more."""
    body = f"const unsigned m = 0xffffffff; mask_t typed = 0xffffffff; x[0] += __shfl_xor_sync({mask}, x[0], 1);"
    text = f"#define FULL 0xffffffffu\n__device__ void f(float* x, unsigned given = 0xffffffff) {{ {body} }}"
    (finding,) = found(text)
    assert (finding.rule, finding.platforms) == ("lane-mask", platforms)


@pytest.mark.parametrize(
    "mask", ["~0ull", "0xffffffffffffffff", "-1ll", "m", "given", "__activemask()", "0xffull", "unknown"]
)
def test_masks_that_are_none_of_that(mask):
    body = f"auto m = __activemask(); x[0] += __shfl_xor_sync({mask}, x[0], 1);"
    assert rules(f"__device__ void f(float* x, unsigned long long given) {{ {body} }}") == []


def test_a_function_of_the_files_own_does_with_a_mask_what_it_likes():
    text = "#ifdef USE_ROCM\n#define __shfl_xor_sync(mask, v, o) __shfl_xor(v, o)\n#endif\n"
    assert rules(text + KERNEL.format("x[0] += __shfl_xor_sync(0xffffffff, x[0], 1);")) == []


def test_a_mask_is_told_once_where_it_is_written_also_inside_a_macro():
    text = (
        "#define SUM(v, o) \\\n  (v += __shfl_down_sync(0xffffffff, v, o))\n"
        "#define FULL 0xffffffff\n" + KERNEL.format("SUM(x[0], 1); __syncwarp(FULL); __any_sync(FULL, 1);")
    )
    assert [(finding.line, finding.column) for finding in found(text)] == [(2, 26), (3, 14)]


@pytest.mark.parametrize(
    ("guard", "platforms"),
    [
        ("#ifdef USE_ROCM", HIP),
        ("#if defined(__HIP_PLATFORM_AMD__) && __AMDGCN_WAVEFRONT_SIZE == 64", WIDE),
        ("#ifdef __gfx942__", ("mi300",)),
        ("#if SOMETHING", HIP),
        ("#ifndef __HIPCC__", ()),
        ("#if !defined(USE_ROCM) && defined(SOMETHING)", ()),
        ("#if __CUDA_ARCH__ >= 800", ()),
        ("#ifdef __NVCC__", ()),
        ("#if 0", ()),
        ("#ifndef USE_ROCM\n#elif 1", HIP),
        ("#if defined(USE_ROCM)\n#else", ()),
        ("#if 1 // not the end: */\n", HIP),
    ],
)
def test_what_a_chips_compiler_does_not_see_is_no_fault_there(guard, platforms):
    findings = found(f"{guard}\n{KERNEL.format('__syncwarp(0xffffffff);')}\n#endif\n")
    assert [finding.platforms for finding in findings] == ([platforms] if platforms else [])


@pytest.mark.parametrize(
    ("qualifier", "platforms"),
    [
        ("__device__", (*HIP, "rtx4090")),
        ("__host__ __device__", (*HIP, "a100", "rtx4090")),
        ("", (*HIP, "a100", "rtx4090")),
    ],
)
def test_code_for_the_device_is_what_the_pass_for_the_device_sees(qualifier, platforms):
    """The host's pass has no architecture, and makes nothing of a function for the device alone."""
    guard = "#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ != 800)"
    text = f"{qualifier} void f() {{\n{guard}\n  cooperative_groups::this_cluster();\n#endif\n}}"
    (finding,) = found(text)
    assert set(finding.platforms) == set(platforms)


def test_branches_that_hold_half_a_statement_each():
    text = """__device__ void f(float* x, int n) {
  if (n == 1) {
#if defined(USE_ROCM)
    x[0] = 1;
  } else if (n == 2) {
    x[1] = 1;
#else
    asm("st.global.cg.f32 [%0], %1;" :: "l"(x), "f"(1.0f));
  } else if (n == 2) {
    asm("st.global.cg.f32 [%0], %1;" :: "l"(x + 1), "f"(1.0f));
#endif
  }
}"""
    assert rules(text) == []
    assert rules(text.replace("#if defined(USE_ROCM)", "#if defined(OTHER)")) == ["inline-assembly"]


def test_directives_in_comments_are_none():
    assert rules("/*\n#ifdef __NVCC__\n*/\n" + KERNEL.format("__syncwarp(0xffffffff);")) == ["lane-mask"]


@pytest.mark.parametrize(
    "body",
    [
        "unsigned m = __ballot(1);",
        "int m = __ballot_sync(~0ull, 1);",
        "y[0] = __popc(__activemask());",
        "auto m = __ballot(1); y[0] = __ffs(m);",
        "auto m = (unsigned)__ballot(1);",
        "auto m = static_cast<uint32_t>(__ballot(1));",
    ],
)
def test_votes_in_32_bits(body):
    assert [(finding.rule, finding.platforms) for finding in found(KERNEL.format(body))] == [("ballot-width", WIDE)]


@pytest.mark.parametrize(
    "body",
    [
        "unsigned long long m = __ballot(1);",
        "uint64_t m = __ballot(1); y[0] = __popcll(m);",
        "if (__ballot(1)) y[0] = 1;",
        "bool any = __ballot(1);",
        "unsigned m = y[0]; y[1] = __popc(m);",
    ],
)
def test_votes_that_are_kept_whole(body):
    assert rules(KERNEL.format(body)) == []


def test_a_vote_of_the_files_own():
    assert rules("__device__ unsigned __ballot(int p);\n__device__ unsigned __ballot(int p) { return p; }\n"
                 + KERNEL.format("unsigned m = __ballot(1);")) == []  # fmt: skip


LOOP = "for (int o = {}; o > 0; o >>= 1) v += __shfl_down(v, o{});"
BLOCK = "__global__ void k(float* x) {{ float v = x[0]; {} if ({} == 0) x[{}] = v; }}"


@pytest.mark.parametrize(
    ("loop", "lane", "warp", "faulty"),
    [
        (LOOP.format("16", ""), "(threadIdx.x & 31)", "threadIdx.x >> 5", False),
        (LOOP.format("16", ", 32"), "threadIdx.x % 32", "threadIdx.x / 32", False),
        (LOOP.format("warpSize / 2", ""), "threadIdx.x % warpSize", "threadIdx.x / warpSize", False),
        (LOOP.format("4", ""), "threadIdx.x % warpSize", "threadIdx.x / warpSize", False),
        (LOOP.format("16", ""), "threadIdx.x % warpSize", "threadIdx.x / warpSize", True),
        (LOOP.format("16", ", 32"), "threadIdx.x % warpSize", "threadIdx.x / warpSize", True),
        (LOOP.format("warpSize / 2", ""), "(threadIdx.x & 31)", "threadIdx.x >> 5", True),
        (LOOP.format("warpSize >> 1", ""), "threadIdx.x % 32", "threadIdx.x / 32", True),
        ("for (int o = 1; o < 32; o *= 2) v += __shfl_xor(v, o);", "threadIdx.x % warpSize", "0", True),
        ("for (int o = 1; o < warpSize; o *= 2) v += __shfl_xor(v, o);", "threadIdx.x % warpSize", "0", False),
    ],
)
def test_groups_of_lanes_are_a_fault_where_they_differ(loop, lane, warp, faulty):
    findings = found(BLOCK.format(loop, lane, warp))
    assert [(finding.rule, finding.platforms) for finding in findings] == ([("mixed-lanes", WIDE)] if faulty else [])


def test_a_width_that_follows_the_chip():
    text = "#ifdef USE_ROCM\n#define WARP {}\n#else\n#define WARP 32\n#endif\n" + BLOCK.format(
        LOOP.format("WARP / 2", ""), "threadIdx.x % warpSize", "threadIdx.x / warpSize"
    ).replace("{", "{{").replace("}", "}}")
    assert rules(text.format(64)) == []
    assert rules(text.format(32)) == ["mixed-lanes"]


def test_a_broadcast_for_the_first_group_alone():
    body = "int lane = threadIdx.x % 32; if (threadIdx.x < 32) x[lane] = __shfl(x[lane], 0);"
    assert rules(KERNEL.format(body)) == []
    assert rules(KERNEL.format("int lane = threadIdx.x % 32; x[lane] = __shfl(x[lane], 0);")) == ["shuffle-width"]


SET = "{0}FuncSetAttribute(k, {0}FuncAttributeMaxDynamicSharedMemorySize, {1});"
FIXED_48_KIB = ("a100", "b200", "h100", "h200", "rtx4090")


@pytest.mark.parametrize(
    ("text", "platforms"),
    [
        (KERNEL.format("__shared__ float t[64][64]; extern __shared__ char more[1 << 20];"), ()),
        (KERNEL.format("__shared__ float t[N]; __shared__ double u[4096];"), ()),
        (KERNEL.format("__shared__ double t[4096], u[4096]; x[0] = sizeof(t);"), FIXED_48_KIB),
        (KERNEL.format("") + "void f() { k<<<1, 2, 100 * 1024>>>(0, 0); }", ("mi250", "mi300", "rtx4090", "rx7900")),
        (KERNEL.format("") + f"void f() {{ {SET.format('cuda', 65536)} }}", ()),
        (KERNEL.format("") + f"void f() {{ {SET.format('hip', 65540)} }}", (*WIDE[:2], "rx7900")),
    ],
)  # fmt: skip
def test_shared_memory_of_known_size(text, platforms):
    assert [finding.platforms for finding in found(text)] == ([platforms] if platforms else [])


@pytest.mark.parametrize(
    ("code", "platforms"),
    [
        ("", ()),
        ("rdtsc", ()),
        (r"bar.sync 0;\n", ("mi250", "mi300", "mi355", "rx7900")),
        ("wgmma.fence.sync.aligned;", ("a100", "b200", "mi250", "mi300", "mi355", "rtx4090", "rx7900")),
        ("s_waitcnt vmcnt(0)", ("a100", "b200", "h100", "h200", "rtx4090")),
        (r"s_nop 0\n v_mfma_f32_32x32x8f16 %0, %1, %2, %0", ("a100", "b200", "h100", "h200", "rtx4090", "rx7900")),
    ],
)
def test_whose_assembly_it_is(code, platforms):
    findings = found(KERNEL.format(f'asm volatile("{code}" ::: "memory");'))
    assert [finding.platforms for finding in findings] == ([platforms] if platforms else [])


@pytest.mark.parametrize(
    ("code", "rule", "platforms"),
    [
        ('strstr(p.name, "A100") != nullptr', "device-name", ("b200", "h100", "h200", *WIDE, "rtx4090", "rx7900")),
        ('!strcmp("Radeon RX 7900 XTX", p.name)', "device-name", ("a100", "b200", "h100", "h200", *WIDE, "rtx4090")),
        ('strstr(p.name, "Instinct")', None, ()),
        ('strstr(q.name, "A100")', None, ()),
        ("p.major >= 8", "device-capability", HIP),
        ("8 <= p.major && p.warpSize == 32", "device-capability", HIP),
        ("p.major + p.minor", None, ()),
        ("q.major >= 8", None, ()),
    ],
)
def test_what_host_code_asks_of_a_device(code, rule, platforms):
    findings = found(f"bool f() {{ cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return {code}; }}")
    assert [(finding.rule, finding.platforms) for finding in findings] == ([(rule, platforms)] if rule else [])


@pytest.mark.parametrize(
    ("bounds", "platforms"),
    [
        ("128, 8", WIDE),
        ("1024, 2", WIDE),
        ("256, 2", ()),
        ("1024", ()),
        ("1024, 1", ()),
        ("N, 8", ()),
        ("THREADS, 4", WIDE),
    ],
)
def test_launch_bounds_that_mean_something_else(bounds, platforms):
    text = f"#define THREADS 512\n__global__ void __launch_bounds__({bounds}) k(float* x) {{}}"
    assert [finding.platforms for finding in found(text)] == ([platforms] if platforms else [])
    assert rules(f"#include <hip/hip_runtime.h>\n{text}") == []


PARTS = """#define WARPS {size}
__global__ void k(float* x) {{
  __shared__ float parts[WARPS];
  int lane = threadIdx.x % {width}, warp = {warp};
  if (lane == 0) parts[warp] = x[threadIdx.x];
  __syncthreads();
  float v = {read};
}}
"""


@pytest.mark.parametrize(
    ("size", "width", "warp", "read", "platforms"),
    [
        ("8", "warpSize", "threadIdx.x / warpSize", "lane < WARPS ? parts[lane] : 0", WIDE),
        ("(256 / 32)", "warpSize", "threadIdx.x / warpSize", "lane < 8 ? parts[lane] : 0", WIDE),
        ("8", "warpSize", "threadIdx.x / warpSize", "lane < blockDim.x / warpSize ? parts[lane] : 0", ()),
        ("8", "warpSize", "threadIdx.x / warpSize", "lane < 4 ? parts[lane] : 0", ()),
        ("8", "32", "threadIdx.x / 32", "lane < 8 ? parts[lane] : 0", ()),
        ("n", "warpSize", "threadIdx.x / warpSize", "lane < n ? parts[lane] : 0", ()),
    ],
)
def test_warps_that_are_counted_before_it_is_known_how_wide_they_are(size, width, warp, read, platforms):
    findings = found(PARTS.format(size=size, width=width, warp=warp, read=read))
    assert [(finding.rule, finding.line, finding.platforms) for finding in findings] == (
        [("warps-per-block", 7, platforms)] if platforms else []
    )


GROUPS = "namespace cg = cooperative_groups;\n"
TILE = "auto tile = cg::tiled_partition<{}>(cg::this_thread_block());"


@pytest.mark.parametrize(
    ("head", "body", "platforms"),
    [
        (GROUPS, "x[0] = cg::reduce(tile, x[0], cg::plus<float>());", HIP),
        ("namespace g = ::cooperative_groups;\n", "g::memcpy_async(block, x, y, 16);", HIP),
        ("", "cooperative_groups::wait(block);", HIP),
        ("using namespace cooperative_groups;\n", "auto same = labeled_partition(coalesced_threads(), y[0]);", HIP),
        (GROUPS, "cg::cluster_group c = cg::this_cluster();", (*HIP, "a100", "rtx4090")),
        ("", "cooperative_groups::thread_block_tile<64>* tile = 0;", ("rx7900",)),
        (GROUPS, TILE.format(64), ("rx7900",)),
        ("constexpr int N = 128;\n" + GROUPS, TILE.format("N"), HIP),
        (GROUPS, TILE.format(32), ()),
        (GROUPS, TILE.format("n"), ()),
        (GROUPS, "auto half = cg::binary_partition(cg::coalesced_threads(), y[0] > 0); cg::sync(cg::this_grid());", ()),
        ("namespace cg = other;\n", "x[0] = cg::reduce(x, y); x[1] = std::reduce(x, x + 1); wait(y);", ()),
        ("using namespace cooperative_groups;\nvoid reduce(float*);\nvoid reduce(float*) {}\n", "reduce(x);", ()),
        (GROUPS, "\n#ifndef USE_ROCM\nx[0] = cg::reduce(tile, x[0], cg::plus<float>());\n#endif\n", ()),
    ],
)
def test_groups_of_threads_that_a_header_does_not_have(head, body, platforms):
    findings = found(head + KERNEL.format(body))
    assert {finding.rule for finding in findings} <= {"cooperative-groups"}
    assert [set(finding.platforms) for finding in findings] == ([set(platforms)] if platforms else [])


CUDA = ("a100", "b200", "h100", "h200", "rtx4090")
EVERYWHERE = tuple(platform.id for platform in PLATFORMS)
SHARED = "__shared__ {} float s[1024]; int t = threadIdx.x; "
HELPER = """__device__ void fold(volatile float* s, int t) { s[t] += s[t + 32]; s[t] += s[t + 16]; }
__global__ void sum(float* x) { extern __shared__ float s[]; if (threadIdx.x < N) fold(s, threadIdx.x); }
"""
VOLATILE = SHARED.format("volatile")


@pytest.mark.parametrize(
    ("text", "platforms"),
    [
        (KERNEL.format(VOLATILE + "if (t < 32) { s[t] += s[t + 32]; s[t] += s[t + 16]; }"), CUDA),
        (KERNEL.format(VOLATILE + "if (t <= 31) { s[t] = max(s[t], s[t + 16]); s[t] = max(s[t], s[t + 8]); }"), CUDA),
        (KERNEL.format(VOLATILE + "if (t < 64) { s[t] += s[t + 64]; s[t] += s[t + 32]; }"), (*CUDA, "rx7900")),
        (KERNEL.format(VOLATILE + "if (t < 32) for (int n = 32; n > 0; n >>= 1) s[t] += s[t + n];"), CUDA),
        (KERNEL.format(VOLATILE + "for (int n = warpSize / 2; n > 0; n /= 2) s[t] += s[t + n];"), CUDA),
        (KERNEL.format(VOLATILE + "if (y[0] > 32) s[t] += s[t + 16]; if (y[0] > 16) s[t] += s[t + 8];"), CUDA),
        (KERNEL.format(SHARED.format("") + "if (t < 32) { s[t] += s[t + 32]; s[t] += s[t + 16]; }"), EVERYWHERE),
        (HELPER.replace("N", "32"), CUDA),
        (HELPER.replace("N", "64"), (*CUDA, "rx7900")),
        ("__device__ void f(float* g, int i) { volatile float* v = g; v[i] += v[i ^ 2]; v[i] += v[i ^ 1]; }", CUDA),
    ],
)
def test_lanes_that_trust_to_run_in_lock_step(text, platforms):
    findings = found(text)
    assert [(finding.rule, set(finding.platforms)) for finding in findings] == [("warp-synchronous", set(platforms))]


@pytest.mark.parametrize(
    "body",
    [
        "if (t < 32) { s[t] += s[t + 32]; __syncwarp(); s[t] += s[t + 16]; }",
        "if (t < 32) { s[t] += s[t + 32]; tile.sync(); s[t] += s[t + 16]; }",
        'if (t < 32) { s[t] += s[t + 32]; asm volatile(""); s[t] += s[t + 16]; }',
        "if (t < 32) { s[t] += s[t + 32]; BARRIER s[t] += s[t + 16]; }",
        "for (int n = 32; n > 0; n /= 2) { if (t < n) s[t] += s[t + n]; __syncthreads(); }",
        "if (t < 32) { s[t] += s[t + 32]; s[t] += s[t + 64]; s[t] += s[t + 96]; }",
        "s[t] += s[t + 256]; s[t] += s[t + 512];",
        "if (t < 32) s[t] += s[t + 16]; else s[t] += s[t + 8];",
        "if (t < 32) { s[t] += s[t + 32]; u[t] += u[t + 16]; }",
        "if (t < 32) { x[t] += x[t + 32]; x[t] += x[t + 16]; }",
        "if (t == 0) for (int i = 0; i < 31; i++) { s[i] += s[i + 1]; s[i] += s[i + 2]; }",
        "float v = s[t] + s[t + 32]; v += s[t + 16];",
    ],
)
@pytest.mark.parametrize("qualifier", ["volatile", ""])
def test_steps_that_something_orders_or_that_read_no_other_lanes_work(body, qualifier):
    """Nor what a single thread does, nor what is not shared."""
    assert rules(KERNEL.format(SHARED.format(qualifier) + "__shared__ float u[64]; " + body)) == []


def test_textures_by_chip():
    (finding,) = found("__global__ void k(hipTextureObject_t t, float* y) { y[0] = tex2D<float>(t, 0, 0); }")
    assert (finding.rule, finding.platforms) == ("vendor-intrinsic", WIDE)


def test_a_chip_of_a_vendor_that_nothing_is_known_of_is_left_alone():
    unknown = [platform for platform in catalogue.load().values() if platform.limits is None]
    text = '#include <mma.h>\n__global__ void k() { asm("bar.sync 0;"); __syncwarp(0xffffffff); }'
    assert len(unknown) > 3
    assert rules(text, platforms=unknown) == []


@pytest.mark.parametrize(
    "text",
    [
        "type = __nv_fp8_e4m3",
        "std::is_same_v<T, __nv_fp8_e4m3>",
    ],
)
def test_a_flavour_that_is_asked_for_is_not_chosen(text):
    chosen = text.startswith("type")
    code = f"using {text};" if chosen else f"template <typename T> constexpr bool narrow = {text};"
    assert rules(code) == (["float8-flavour"] if chosen else [])
