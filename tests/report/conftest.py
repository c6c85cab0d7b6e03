"""A run as a sweep leaves it: twelve kernels on six platforms, with real tasks, real chips and many ways to fail."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelarena.platforms import catalogue as platforms
from kernelarena.report.view import View, arrange
from kernelarena.spec import (
    HIDDEN_FAMILIES,
    Environment,
    Evidence,
    Family,
    FamilyTally,
    Gate,
    Kernel,
    Language,
    Launch,
    Location,
    Manifest,
    Platform,
    Reason,
    Resources,
    RunData,
    Shape,
    Status,
    Sweep,
    Tally,
    Trial,
    Verdict,
)
from kernelarena.spec import catalogue as tasks

PLATFORMS = ("cpu", "mi250", "mi300", "rx7900", "a100", "h100")
GPUS = PLATFORMS[1:]
KERNELS = {  # id: task, home
    "add-broadcast": ("add", "h100"),
    "attention-flash": ("attention", "h100"),
    "bmm-batched": ("bmm", None),
    "cross-entropy-fused": ("cross_entropy", "h100"),
    "cumsum-blocked": ("cumsum", "mi300"),
    "fp8-rows": ("fp8_quantise_rows", "h100"),
    "gelu-tanh-mul": ("gelu_tanh_and_mul", "h100"),
    "layer-norm-two-pass": ("layer_norm", "mi300"),
    "matmul-persistent": ("matmul", "h100"),
    "rms-norm-residual": ("rms_norm_residual", "h100"),
    "rope-half": ("rotary_embedding", "h100"),
    "softmax-1024": ("softmax", "h100"),
}
SOURCE = '''"""Row-wise softmax, one program a row."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols)
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(y_ptr + row * stride + cols, e / tl.sum(e, axis=0))


def softmax(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=1024, num_warps=32)
    return y
'''


def _occupancy(shared: int, chip: Platform) -> float:
    return 0.25 if shared > 32768 else 0.5 if chip.limits and chip.limits.warp_size == 64 else 1.0


def _launch(chip: Platform, *, warps: int = 8, shared: int = 16384, registers: int = 96, **fields: object) -> Launch:
    lanes = chip.limits.warp_size if chip.limits else 32
    return Launch.model_validate(
        {
            "kernel": "softmax_kernel",
            "signature": "x_ptr: *fp16 (16-byte aligned), y_ptr: *fp16 (16-byte aligned), stride: i32, BLOCK=1024",
            "grid": (4096,),
            "count": 12,
            "shape": Shape(dims={"M": 4096, "N": 1024}, dtype="float16"),
            "resources": Resources(
                threads_per_block=warps * lanes,
                warps=warps,
                stages=2,
                shared_memory=shared,
                registers=registers,
                spills=0,
                scratch=0,
                occupancy=_occupancy(shared, chip),
                limited_by="shared memory" if shared > 32768 else "registers",
            ),
            "seconds": 0.4,
            **fields,
        }
    )


def _hidden(**failed: int) -> FamilyTally:
    total = dict.fromkeys(HIDDEN_FAMILIES, 1) | {Family.EDGE: 2, Family.ALIGNMENT: 2}
    by_family = {
        family: Tally(passed=number - failed.get(family.name.lower(), 0), total=number)
        for family, number in total.items()
    }
    return FamilyTally(passed=sum(tally.passed for tally in by_family.values()), total=8, by_family=by_family)


class Factory:
    """Builds verdicts of one run."""

    def __init__(self) -> None:
        self.platforms = {id: platform for id, platform in platforms.load().items() if id in PLATFORMS}
        self.tasks = tasks.load_tasks()

    def verdict(self, kernel: str, platform: str, **fields: object) -> Verdict:
        task, home = KERNELS.get(kernel, ("softmax", None))
        emulated = platform == "cpu"
        chip = self.platforms.get(platform)
        launch = () if emulated or chip is None else (_launch(chip),)
        return Verdict.model_validate(
            {
                "task": task,
                "kernel": kernel,
                "language": Language.TRITON,
                "home": home,
                "platform": platform,
                "evidence": Evidence.EMULATED if emulated else Evidence.COMPILED,
                "status": Status.PASS,
                "gate": Gate.HIDDEN if emulated else Gate.COMPILE,
                "visible": Tally(passed=6, total=6),
                "hidden": _hidden() if emulated else FamilyTally(),
                "toolchain": "triton 3.9.0",
                "launches": launch,
                "resources": launch[0].resources if launch else None,
                "duration_s": 2.5 if emulated else 0.9,
                "durations": {"compile": 0.8, "load": 0.1, "correctness": 1.0, "hidden": 0.5}
                if emulated
                else {"compile": 0.8},
                **fields,
            }
        )

    def failed(self, kernel: str, platform: str, reason: Reason, detail: str, **fields: object) -> Verdict:
        gate = Gate.COMPILE if Reason(reason).group.value == "compile" else Gate.CORRECTNESS
        defaults = {"visible": Tally(passed=0, total=6), "hidden": FamilyTally()}
        if gate is Gate.COMPILE:
            defaults |= {"launches": (), "resources": None}
        return self.verdict(
            kernel,
            platform,
            **{"status": Status.FAIL, "gate": gate, "reason": reason, "detail": detail} | defaults | fields,
        )

    def unknown(self, kernel: str, platform: str, status: Status, reason: Reason, detail: str) -> Verdict:
        return self.verdict(
            kernel,
            platform,
            evidence=None,
            status=status,
            gate=None,
            reason=reason,
            detail=detail,
            visible=Tally(),
            hidden=FamilyTally(),
            launches=(),
            resources=None,
            toolchain=None,
        )

    def kernel(self, id: str, **fields: object) -> Kernel:
        task, home = KERNELS.get(id, ("softmax", None))
        return Kernel.model_validate(
            {
                "id": id,
                "task": task,
                "language": Language.TRITON,
                "file": "kernel.py",
                "function": "softmax",
                "home": home,
                "files": {"kernel.py": SOURCE},
                "origin": f"examples/generated/{id}",
                **fields,
            }
        )

    def data(self, verdicts: list[Verdict], **manifest: object) -> RunData:
        """A run of just those verdicts, with the kernels and platforms that they name."""
        kernels = list(dict.fromkeys(verdict.kernel for verdict in verdicts))
        order = sorted(dict.fromkeys(verdict.platform for verdict in verdicts), key=PLATFORMS.index)
        return self.run(verdicts, kernels, tuple(order), **manifest)

    def run(
        self, verdicts: list[Verdict], kernels: list[str], order: tuple[str, ...] = PLATFORMS, **fields: object
    ) -> RunData:
        cells = {(verdict.kernel, verdict.platform): verdict for verdict in verdicts}
        return RunData(
            manifest=Manifest.model_validate(
                {
                    "id": "20261130-142530-ab12",
                    "created": "2026-11-30T14:25:30+00:00",
                    "finished": "2026-11-30T14:27:02+00:00",
                    "command": ("kab-mc", "sweep", "--platforms", ",".join(order), "--kernels", "examples/generated"),
                    "sweep": Sweep(platforms=order, kernels=("examples/generated",)),
                    "platforms": order,
                    "kernels": tuple(kernels),
                    "hidden_seed_sha256": "9f2c" * 16,
                    "hidden_seed": 4129889,
                    "environment": Environment(
                        versions={"kernelarena": "0.1.0", "python": "3.11.9", "torch": "2.13.0", "triton": "3.9.0"},
                        host="Linux 6.8, x86-64, 16 cores",
                        git_revision="2d2d946-dirty",
                    ),
                    **fields,
                }
            ),
            platforms={id: self.platforms[id] for id in order if id in self.platforms},
            tasks=self.tasks,
            kernels={id: self.kernel(id) for id in kernels},
            verdicts=tuple(cells[k, p] for k in kernels for p in order if (k, p) in cells),
        )


def _realistic(make: Factory) -> list[Verdict]:
    cells = {(kernel, platform): make.verdict(kernel, platform) for kernel in KERNELS for platform in PLATFORMS}

    def lose(kernel: str, platform: str, reason: Reason, detail: str, **fields: object) -> None:
        cells[kernel, platform] = make.failed(kernel, platform, reason, detail, **fields)

    for platform in ("mi250", "mi300"):
        launch = _launch(
            make.platforms[platform],
            warps=32,
            reason=Reason.RESOURCE_EXCEEDED,
            detail="2048 threads",
            location=Location(file="kernel.py", line=9),
        )
        lose(
            "softmax-1024",
            platform,
            Reason.RESOURCE_EXCEEDED,
            "softmax_kernel (M=4096 N=1024 float16) needs 2048 threads per block (32 warps × 64 lanes); "
            f"{platform} allows 1024. Use at most 16 warps there.",
            location=Location(
                file="kernel.py",
                line=20,
                text="    softmax_kernel[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=1024, num_warps=32)",
            ),
            launches=(launch,),
            resources=launch.resources,
        )
    shape = Shape(dims={"M": 17, "N": 1021}, dtype="float16", family=Family.ALIGNMENT)
    wrong = (
        "out[0][3, 1023] is 0.0, expected 0.0131 (allowed ±2e-5); 17 of 17357 elements differ, all in the last column"
    )
    lose(
        "softmax-1024",
        "cpu",
        Reason.MISMATCH,
        wrong,
        gate=Gate.HIDDEN,
        visible=Tally(passed=6, total=6),
        hidden=_hidden(alignment=2, scale_up=1),
        trials=(
            Trial(shape=Shape(dims={"M": 4096, "N": 1024}, dtype="float16"), passed=True, error=0.21, seconds=0.3),
            Trial(shape=shape, passed=False, reason=Reason.MISMATCH, detail=wrong, error=412.5, seconds=0.2),
            Trial(
                shape=Shape(dims={"M": 8, "N": 2048}, dtype="bfloat16", family=Family.SCALE_UP),
                passed=False,
                reason=Reason.MISMATCH,
                detail="half of each row is missing",
                error=float("inf"),
            ),
        ),
        location=Location(file="kernel.py", line=12, text="    x = tl.load(x_ptr + row * stride + cols)"),
    )
    for platform in ("mi250", "mi300", "rx7900", "a100"):
        flavour = "fp8e4nv"
        lose(
            "fp8-rows",
            platform,
            Reason.UNSUPPORTED_FEATURE,
            f"type {flavour} not supported in this architecture; use the platform's own float8 type.",
            location=Location(file="kernel.py", line=14, text="    e = tl.exp(x)"),
            log='Traceback (most recent call last):\n  File "kernel.py", line 14, in quantise_rows\n'
            "triton.compiler.errors.CompilationError: at 14:8:\n    e = tl.exp(x)\n        ^\n"
            f"type {flavour} not supported in this architecture. The supported fp8 dtypes are ('fp8e5',)",
        )
    for platform in GPUS[:3]:
        shared = 163840
        launch = _launch(make.platforms[platform], shared=shared, reason=Reason.RESOURCE_EXCEEDED, detail="LDS")
        lose(
            "matmul-persistent",
            platform,
            Reason.RESOURCE_EXCEEDED,
            f"matmul_kernel (M=4096 N=4096 K=4096 float16) needs 163840 B of shared memory per block; {platform} "
            "allows 65536. Lower num_stages or the block sizes.",
            launches=(launch, _launch(make.platforms[platform], tuning=True)),
            resources=launch.resources,
        )
    for platform in PLATFORMS:
        lose(
            "attention-flash",
            platform,
            Reason.SYNTAX_ERROR,
            "kernel.py:9: '(' was never closed; correct the line.",
            location=Location(file="kernel.py", line=9, text="def softmax_kernel(x_ptr, y_ptr, stride, n_cols"),
        )
    lose("cross-entropy-fused", "cpu", Reason.ILLEGAL_ACCESS, "read past the end of 'logits' (signal SIGSEGV).")
    lose("cumsum-blocked", "cpu", Reason.TIMEOUT, "one call on M=64 N=4096 float32 did not return within 30 s.")
    lose(
        "gelu-tanh-mul",
        "cpu",
        Reason.REDUCED_PRECISION,
        "out[0] is off by 31 times what float32 accumulation allows.",
        visible=Tally(passed=2, total=6),
    )
    lose(
        "bmm-batched",
        "rx7900",
        Reason.COMPILE_TIMEOUT,
        "compilation did not end within 120 s (17 of 48 variants done).",
    )
    cells["rope-half", "h100"] = make.verdict(
        "rope-half", "h100", notes=("2 of 8 tuned configurations do not fit (shared memory)", "uses aten::cos")
    )
    cells["rms-norm-residual", "a100"] = make.unknown(
        "rms-norm-residual", "a100", Status.INFRA, Reason.WORKER_LOST, "the worker died 3 times (out of memory)."
    )
    cells["rope-half", "mi250"] = make.unknown(
        "rope-half", "mi250", Status.SKIPPED, Reason.TOOLCHAIN_MISSING, "triton without the AMD backend."
    )
    del cells["layer-norm-two-pass", "h100"]
    return list(cells.values())


@pytest.fixture(scope="session")
def make() -> Factory:
    return Factory()


@pytest.fixture(scope="session")
def data(make: Factory) -> RunData:
    return make.run(_realistic(make), list(KERNELS), left_out=("examples/generated/broken.jsonl:7: not valid JSON",))


@pytest.fixture(scope="session")
def view(data: RunData) -> View:
    return arrange(data)


@pytest.fixture(scope="session")
def viewed(make: Factory) -> Callable[[list[Verdict]], View]:
    return lambda verdicts: arrange(make.data(verdicts))
