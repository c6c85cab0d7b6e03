"""The compile gate end to end: real kernels, compiled for chips that are not here."""

from __future__ import annotations

import pytest

from kernelarena.protocol.compile import Arg
from kernelarena.spec import Gate, Language, Reason, Status
from tests.protocol.gate import COPY_KERNEL, HEAD, call_of, gate, kernel_of, observe

pytest.importorskip("triton")

COPY = """
def entry(x):
    y = torch.empty_like(x)
    copy_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096, num_warps={warps})
    return y
"""


@pytest.fixture(scope="session", autouse=True)
def _preloaded():
    from kernelarena.platforms.toolchains.triton import preload

    preload()


@pytest.mark.parametrize("platform", ["mi250", "mi300", "mi355", "rx7900", "a100", "rtx4090", "h100", "b200"])
def test_a_plain_kernel_builds_for_every_chip(platform):
    decision = gate(COPY_KERNEL + COPY.format(warps=4), platform, [call_of(outputs=True)])
    assert decision.status is Status.PASS, decision
    (launch,) = decision.launches
    assert launch.kernel == "copy_kernel"
    assert launch.signature == (
        "x: *fp16 (16-byte aligned), y: *fp16 (16-byte aligned), n: i32 (multiple of 16), BLOCK=4096"
    )
    assert (launch.grid, launch.count, launch.tuning) == ((16, 1, 1), 1, False)
    assert launch.resources is not None
    assert launch.resources.registers > 0
    assert 0 < launch.resources.occupancy <= 1
    assert decision.resources == launch.resources


def test_specialisations_differ_by_alignment_and_divisibility_and_are_compiled_once():
    calls = [call_of(), call_of(n=2048), call_of(m=3, n=7)]
    offset = Arg(name="x", dtype="float16", size=(64, 1024), stride=(1024, 1), offset=1)
    decision = gate(COPY_KERNEL + COPY.format(warps=4), "h100", [*calls, call_of(args=[offset])])
    signatures = [(launch.signature.split(", BLOCK")[0], launch.count) for launch in decision.launches]
    assert signatures == [
        ("x: *fp16 (16-byte aligned), y: *fp16 (16-byte aligned), n: i32 (multiple of 16)", 2),
        ("x: *fp16 (16-byte aligned), y: *fp16 (16-byte aligned), n: i32", 1),
        ("x: *fp16, y: *fp16 (16-byte aligned), n: i32 (multiple of 16)", 1),
    ]


def test_thirty_two_warps_fit_32_lanes_and_not_64():
    source = COPY_KERNEL + COPY.format(warps=32)
    assert gate(source, "h100").status is Status.PASS
    assert gate(source, "rx7900").status is Status.PASS
    decision = gate(source, "mi300")
    assert decision.reason is Reason.RESOURCE_EXCEEDED
    assert decision.detail.startswith(
        "copy_kernel (M=64 N=1024 float16) needs 2048 threads per block (32 warps × 64 lanes); mi300 allows 1024"
    )
    assert decision.location.text.startswith("def copy_kernel(")


def test_too_much_shared_memory_is_held_against_each_chip():
    source = (
        HEAD
        + """
@triton.jit
def product(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + k[None, :] + i)
        acc += tl.dot(left, tl.load(b + (k[:, None] + i) * BN + n[None, :]))
    tl.store(c + m[:, None] * BN + n[None, :], acc.to(tl.float16))

def entry(x):
    y = torch.empty(64, 256, dtype=torch.float16, device="cuda")
    product[(1,)](x, x, y, 512, BM=64, BN=256, BK=64, num_stages=4, num_warps=8)
    return y
"""
    )
    assert gate(source, "h100").status is Status.PASS
    decision = gate(source, "rtx4090")
    assert decision.reason is Reason.RESOURCE_EXCEEDED
    assert "of shared memory per block; rtx4090 allows 101376 bytes (99 KiB)" in decision.detail


@pytest.mark.parametrize(("platform", "reason"), [("h100", None), ("a100", Reason.UNSUPPORTED_FEATURE)])
def test_float8_where_the_chip_has_it(platform, reason):
    source = COPY_KERNEL + COPY.format(warps=4)
    decision = gate(source, platform, [call_of(dtype="float8_e4m3")])
    assert decision.reason is reason
    if reason:
        assert "type fp8e4nv not supported in this architecture" in decision.detail


def test_the_fnuz_flavour_only_where_the_chip_has_it():
    args = [Arg(name="x", dtype="float8_e4m3fnuz", size=(64, 1024), stride=(1024, 1))]
    source = COPY_KERNEL + COPY.format(warps=4)
    assert gate(source, "mi300", [call_of(args=args)]).status is Status.PASS
    decision = gate(source, "h100", [call_of(args=args)])
    assert decision.reason is Reason.UNSUPPORTED_FEATURE
    assert "type fp8e4b8 not supported in this architecture" in decision.detail


ASSEMBLY = (
    HEAD
    + """
@triton.jit
def rounded(x, y, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    value = tl.load(x + index).to(tl.float32)
    text: tl.constexpr = "{text}"
    value = tl.inline_asm_elementwise(text, "{constraints}", [value], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y + index, value)

def entry(x):
    y = torch.empty_like(x)
    rounded[(1,)](x, y, BLOCK=1024)
    return y
"""
)


@pytest.mark.parametrize(
    ("text", "constraints", "home", "elsewhere"),
    [("ex2.approx.f32 $0, $1;", "=f,f", "h100", "mi300"), ("v_exp_f32 $0, $1", "=v,v", "mi300", "h100")],
)
def test_inline_assembly_of_another_chip(text, constraints, home, elsewhere):
    source = ASSEMBLY.format(text=text, constraints=constraints)
    assert gate(source, home).status is Status.PASS
    decision = gate(source, elsewhere)
    assert decision.reason is Reason.UNSUPPORTED_FEATURE, decision
    assert "inline assembly of another chip" in decision.detail


def test_tuned_configurations_that_do_not_fit_are_listed():
    source = COPY_KERNEL.replace(
        "@triton.jit",
        "@triton.autotune([triton.Config({'BLOCK': 1024}, num_warps=w) for w in (4, 32)], key=['n'])\n@triton.jit",
    )
    source += """
def entry(x):
    y = torch.empty_like(x)
    copy_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
"""
    decision = gate(source, "mi300")
    assert decision.status is Status.PASS
    assert decision.notes[0] == "copy_kernel: 1 of 2 tuned specialisations do not run on mi300"
    assert "num_warps=32]: needs 2048 threads per block" in decision.notes[1]
    assert [(launch.tuning, launch.reason) for launch in decision.launches] == [
        (False, None),
        (True, Reason.RESOURCE_EXCEEDED),
    ]
    nothing_fits = gate(source.replace("(4, 32)", "(32, 64)"), "mi300")
    assert nothing_fits.reason is Reason.RESOURCE_EXCEEDED


def test_host_code_that_recovers_from_a_refused_launch_is_honest():
    source = (
        COPY_KERNEL
        + """
def entry(x):
    y = torch.empty_like(x)
    for warps in (32, 8):
        try:
            copy_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096, num_warps=warps)
            return y
        except triton.runtime.errors.OutOfResources:
            continue
"""
    )
    decision = gate(source, "mi300")
    assert decision.status is Status.PASS
    assert "host code went on without it: needs 2048 threads" in decision.notes[0]


@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        ("return torch.softmax(x, -1)", Reason.FRAMEWORK_FALLBACK, "comes from aten::_softmax"),
        ("return torch.empty_like(x)", Reason.NO_DEVICE_KERNEL, "without launching a device kernel"),
        (
            "y = torch.empty_like(x); copy_kernel[(1,)](x, y, 8, BLOCK=8); return torch.softmax(x, -1)",
            Reason.FRAMEWORK_FALLBACK,
            "comes from aten::_softmax",
        ),
        (
            "y = torch.empty_like(x); copy_kernel[(1,)](x, y, 8, BLOCK=8); y.copy_(torch.softmax(x, -1)); return y",
            Reason.FRAMEWORK_FALLBACK,
            "comes from aten::_softmax",
        ),
        (
            "y = torch.empty_like(x); copy_kernel[(1,)](x, y, 8, BLOCK=8); return torch.zeros_like(x)",
            Reason.FRAMEWORK_FALLBACK,
            "comes from host code",
        ),
        (
            "y = torch.empty_like(x); copy_kernel[(1,)](y, y, 8, BLOCK=8); return y + torch.softmax(x, -1)",
            Reason.FRAMEWORK_FALLBACK,
            "touch 327680 elements, the launched kernels 65536",
        ),
        (
            "y = torch.empty_like(x); copy_kernel[(1,)](x, y, 8, BLOCK=8); (x.T @ x); return y",
            Reason.FRAMEWORK_FALLBACK,
            "aten::mm do 1.34e+08 of the 3.28e+05 operations",
        ),
    ],
)
def test_work_left_to_the_framework_is_seen_where_it_is_dispatched(body, reason, detail):
    decision = gate(COPY_KERNEL + f"\ndef entry(x):\n    {body}\n", "mi300")
    assert decision.reason is reason, decision
    assert detail in decision.detail


def test_operators_that_the_task_leaves_to_the_framework_are_exempt():
    source = COPY_KERNEL + "\ndef entry(x):\n    return torch.softmax(x, -1) if x is None else kernel(x)\n"
    source += """
def kernel(x):
    y = torch.empty_like(x)
    copy_kernel[(1,)](x, y, 8, BLOCK=8)
    return torch.sort(y)[0]
"""
    from tests.protocol.gate import TASK

    assert gate(source, "mi300").reason is Reason.FRAMEWORK_FALLBACK
    task = TASK.model_copy(update={"framework": ("aten::sort",)})
    assert gate(source, "mi300", task=task, framework=task.framework).status is Status.PASS


def test_light_use_of_the_framework_is_a_note():
    source = COPY_KERNEL + COPY.format(warps=4).replace("return y", "return y if x.numel() else y.sum(0)")
    assert gate(source, "mi300").notes == ()
    decision = gate(source.replace("copy_kernel[", "x[0].sum(); copy_kernel["), "mi300")
    assert decision.status is Status.PASS
    assert decision.notes == ("uses framework operators beside its own kernels: aten::sum",)


def test_framework_kernels_are_only_run():
    kernel = kernel_of("import torch\ndef entry(x):\n    return torch.softmax(x, -1)\n", language=Language.TORCH)
    decision = gate(kernel, "h100", [call_of(outputs=True)])
    assert decision.status is Status.PASS
    assert decision.notes[0].startswith("framework code")


def test_large_framework_operators_are_described_and_not_computed():
    body = "a = torch.zeros(1 << 16, 1 << 15, dtype=torch.float16, device='cuda'); return torch.softmax(a @ a.T, -1)"
    decision = gate(HEAD + f"\ndef entry(x):\n    {body}\n", "mi300")
    assert decision.reason is Reason.FRAMEWORK_FALLBACK  # 2.8e14 operations: hours on a CPU, if they were done


@pytest.mark.parametrize(
    ("source", "reason", "detail", "line"),
    [
        ("def entry(x:\n    pass", Reason.SYNTAX_ERROR, "was never closed", 1),
        ("import nowhere", Reason.IMPORT_ERROR, "needs the module 'nowhere'", 1),
        ("\nx = 1 / 0", Reason.IMPORT_ERROR, "importing it raises ZeroDivisionError", 2),
        ("def entri(x): ...", Reason.IMPORT_ERROR, "has no 'entry'; did you mean 'entri'?", None),
        ("def entry(x):\n    assert x.shape[1] == 7, 'only 7'", Reason.LAUNCH_ERROR, "AssertionError: only 7", 2),
        ("def entry(): ...", Reason.LAUNCH_ERROR, "TypeError: entry() takes 0 positional arguments", None),
        ("import os\ndef entry(x):\n    os._exit(5)", Reason.CRASH, "exited with code 5 in the call", None),
        ("import ctypes\ndef entry(x):\n    ctypes.string_at(0)", Reason.CRASH, "was ended by SIGSEGV", None),
        (
            "import torch\ndef entry(x):\n    torch.empty(1 << 50, device='cuda')",
            Reason.OUT_OF_MEMORY,
            "tried to allocate",
            3,
        ),
        ("raise SystemExit(0)", Reason.IMPORT_ERROR, "importing it raises SystemExit", 1),
    ],
)
def test_faults_of_host_code(source, reason, detail, line):
    decision = gate(source, "mi300")
    assert decision.reason is reason, decision
    assert detail in decision.detail
    assert (decision.location and decision.location.line) == line


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        ("value = tl.load(x + index) + undefined_name", "undefined_name is not defined"),
        ("value = tl.load(x + tl.arange(0, 1000))", "arange's range must be a power of 2"),
        ("value = tl.dot(tl.load(x + index), tl.load(x + index))", ""),
        ("tl.static_assert(BLOCK == 7, 'seven only')", "seven only"),
    ],
)
def test_compile_errors_name_the_line(line, detail):
    source = (
        HEAD
        + f"""
@triton.jit
def kernel(x, y, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    {line}
    tl.store(y + index, 0.0)

def entry(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, BLOCK=1024)
    return y
"""
    )
    decision = gate(source, "mi300")
    assert decision.reason is Reason.COMPILE_ERROR, decision
    assert detail in decision.detail
    assert decision.location.text == line.strip()


def test_a_host_tensor_in_a_launch_fails_as_on_the_device():
    source = COPY_KERNEL + COPY.format(warps=4).replace("torch.empty_like(x)", "torch.empty(x.shape, dtype=x.dtype)")
    decision = gate(source, "h100")
    assert decision.reason is Reason.LAUNCH_ERROR
    assert "Pointer argument (at 1) cannot be accessed from Triton (cpu tensor?)" in decision.detail


def test_a_grid_that_the_runtime_refuses():
    source = COPY_KERNEL.replace("program_id(0)", "program_id(1)") + COPY.format(warps=4).replace(
        "(triton.cdiv(x.numel(), 4096),)", "(1, 70000)"
    )
    assert gate(source, "mi300").status is Status.PASS
    decision = gate(source, "h100")
    assert decision.reason is Reason.RESOURCE_EXCEEDED
    assert "needs a grid of 1 × 70000 × 1 blocks; the device allows 65535 in y" in decision.detail


def test_outputs_of_a_wrong_shape_or_dtype_belong_to_the_correctness_gate():
    calls = [call_of(outputs=True), call_of(m=32, n=32, outputs=True)]
    wrong = gate(COPY_KERNEL + COPY.format(warps=4).replace("return y", "return y.T"), "h100", calls)
    assert (wrong.gate, wrong.reason) == (Gate.CORRECTNESS, Reason.WRONG_SHAPE)
    assert (wrong.visible.passed, wrong.visible.total) == (1, 2)
    wrong = gate(COPY_KERNEL + COPY.format(warps=4).replace("return y", "return y.float()"), "h100", calls)
    assert (wrong.reason, wrong.visible.passed) == (Reason.WRONG_DTYPE, 0)


def test_a_dtype_that_failed_is_not_tried_again_and_the_others_are():
    source = COPY_KERNEL + COPY.format(warps=4).replace("y =", "assert x.dtype != torch.float32\n    y =")
    calls = [call_of(dtype="float32"), call_of(m=32, dtype="float32"), call_of(), call_of(m=32)]
    decision = gate(source, "h100", calls)
    assert decision.reason is Reason.LAUNCH_ERROR
    assert (decision.visible.passed, decision.visible.total) == (2, 4)


def test_descriptors_need_an_allocator_where_the_chip_has_them_in_hardware():
    source = (
        HEAD
        + """
@triton.jit
def tiles(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    target.store([0, 0], source.load([0, 0]))

def entry(x):
    y = torch.empty_like(x)
    #allocator
    tiles[(1,)](x, y, *x.shape, BM=32, BN=64)
    return y
"""
    )
    with_allocator = source.replace(
        "#allocator", "triton.set_allocator(lambda size, *_: torch.empty(size, dtype=torch.int8, device='cuda'))"
    )
    assert gate(source, "mi300").status is Status.PASS
    assert gate(with_allocator, "h100").status is Status.PASS
    decision = gate(source, "h100")
    assert decision.reason is Reason.LAUNCH_ERROR
    assert "no allocator was set" in decision.detail


def test_kernels_of_several_files_report_the_file():
    helper = HEAD + "\n@triton.jit\ndef helper(value):\n    return value + missing\n"
    source = COPY_KERNEL.replace("tl.load(x + index, index < n)", "helper(tl.load(x + index, index < n))")
    kernel = kernel_of("from helpers import helper\n" + source + COPY.format(warps=4), helpers=helper)
    decision = gate(kernel, "mi300")
    assert decision.reason is Reason.COMPILE_ERROR
    assert (decision.location.file, decision.location.text) == ("helpers.py", "return value + missing")


def test_events_are_told_as_they_happen():
    source = COPY_KERNEL + COPY.format(warps=4).replace("return y", "import os; os.kill(os.getpid(), 9)")
    _, events, code, _ = observe(source, "mi300")
    assert code == -9
    assert [event["event"] for event in events] == ["call-begins", "compiling", "compiled", "launch"]


def test_imported_packages_are_named_so_that_a_cached_answer_can_be_checked(tmp_path, monkeypatch):
    (tmp_path / "borrowed.py").write_text("VALUE = 4\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    source = "from borrowed import VALUE\n" + COPY_KERNEL + COPY.format(warps="VALUE")
    decision = gate(source, "mi300")
    assert list(decision.sources) == [str(tmp_path / "borrowed.py")]
