"""Runs the compile gate of one kernel in a forked process, as the judge's candidate processes do."""

from __future__ import annotations

import json
import os
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from kernelarena.platforms import catalogue
from kernelarena.protocol.compile import Arg, Call, CompileJob, Decision, TensorSpec, decide
from kernelarena.spec import Kernel, Language, Shape, Task

PLATFORMS = catalogue.load()
TASK = Task.model_validate(
    {
        "id": "probe",
        "title": "A row-wise operator",
        "kind": "reduction",
        "source": {"suite": "test", "name": "probe"},
        "signature": "probe(x: [M, N]) -> y: [M, N]",
        "dtypes": ["float32", "float16"],
        "dims": {"M": {"max": 1 << 20}, "N": {"max": 1 << 20}},
        "visible": [{"M": 64, "N": 1024}],
        "work": {"flops": "5*M*N", "bytes": "2*M*N*itemsize"},
    }
)
HEAD = """
import torch
import triton
import triton.language as tl
"""
COPY_KERNEL = (
    HEAD
    + """
@triton.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + index, tl.load(x + index, index < n), index < n)
"""
)


def kernel_of(source: str, *, language: Language = Language.TRITON, function: str = "entry", **files: str) -> Kernel:
    texts = {"kernel.py": textwrap.dedent(source), **{f"{name}.py": text for name, text in files.items()}}
    return Kernel(id="k", task="probe", language=language, file="kernel.py", function=function, files=texts, origin="t")


def call_of(
    m: int = 64, n: int = 1024, dtype: str = "float16", *, args: Sequence[Arg] | None = None, outputs: bool = False
) -> Call:
    shape = Shape(dims={"M": m, "N": n}, dtype=dtype)
    torch_dtype = {"float8_e4m3": "float8_e4m3fn"}.get(dtype, dtype)
    args = [Arg(name="x", dtype=torch_dtype, size=(m, n), stride=(n, 1))] if args is None else args
    expected = (TensorSpec(dtype=torch_dtype, size=(m, n)),) if outputs else None
    return Call(shape=shape, args=tuple(args), outputs=expected)


def observe(
    source: str | Kernel, platform: str = "mi300", calls: Sequence[Call] | None = None, framework: Sequence[str] = ()
) -> tuple[CompileJob, list[dict], int, str]:
    """Return the job, the events, the exit code and what was printed."""
    kernel = source if isinstance(source, Kernel) else kernel_of(source)
    job = CompileJob(
        kernel=kernel,
        platform=PLATFORMS[platform],
        calls=tuple([call_of()] if calls is None else calls),
        framework=tuple(framework),
    )
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as log:
        folder = Path(scratch, "kernel")
        for name, text in kernel.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            _candidate(job, folder, write, log.fileno())
        os.close(write)
        with os.fdopen(read) as lines:
            events = [json.loads(line) for line in lines]
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        log.seek(0)
        return job, events, code, log.read().decode("utf-8", "replace")


def gate(
    source: str | Kernel,
    platform: str = "mi300",
    calls: Sequence[Call] | None = None,
    *,
    task: Task = TASK,
    framework: Sequence[str] = (),
) -> Decision:
    """Return the compile gate's decision on a kernel."""
    job, events, code, log = observe(source, platform, calls, framework)
    return decide(job, task, events, exit_code=code, log=log[-4000:])


def _candidate(job: CompileJob, folder: Path, write: int, log: int) -> None:
    code = 3
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        import torch

        from kernelarena.protocol.compile_run import run

        torch.set_num_threads(1)  # a thread pool that the parent has started does not exist here

        with os.fdopen(write, "w") as lines:

            def emit(event: dict[str, object]) -> None:
                lines.write(json.dumps(event) + "\n")
                lines.flush()

            run(job, folder, emit)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)
