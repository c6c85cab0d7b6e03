"""What judging costs beyond the kernel's own time: from the hand-over of a correct kernel to its verdict.

An elementwise kernel is judged on a warm worker, on 5 visible and 8 hidden shapes in three calls each. The kernel's own
time is what its process spent in the entry (compilation by the kernel's first calls included); the rest is the
harness: starting the process, drawing inputs and truths, sharing memory, looking at what came back.

    python benchmarks/judge_overhead.py [--platform cpu] [--cells 20] [--again 1000]

``--again`` then judges that many cells more and prints the memory of the judge and of the process that candidates are
forked from, before and after: neither may grow.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from kernelarena.judge import Judge
from kernelarena.platforms import catalogue
from kernelarena.spec import Kernel, Status, Sweep, TaskSource, Verdict

_SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


def entry(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)
    return y
"""
_TASK = {
    "id": "double",
    "title": "Twice a matrix",
    "kind": "elementwise",
    "source": {"suite": "benchmark", "name": "double"},
    "signature": "double(x: [M, N]) -> y: [M, N]",
    "dtypes": ["float32"],
    "distributions": ["normal"],
    "layouts": ["contiguous"],
    "dims": {"M": {"max": 8192}, "N": {"max": 8192}},
    "visible": [{"M": 2**m, "N": 1024} for m in range(5)],
    "production": [{"M": 512, "N": 4096}],
    "work": {"flops": "M*N", "bytes": "2*M*N*itemsize"},
}
_REFERENCE = """
def inputs(shape, rng):
    return {"x": rng.tensor(shape["M"], shape["N"])}


def reference(x):
    return x * 2
"""
_SWEEP = Sweep.model_validate({"calls": 3, "hidden": {"count": 8}, "timing": {"enabled": False}})


def resident(pid: int | str = "self") -> float:
    """Return the MiB of memory that a process uses."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20


def main() -> None:
    """Judge, and print how long it took."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--platform", default="cpu")
    options.add_argument("--cells", type=int, default=20)
    options.add_argument("--again", type=int, default=0, metavar="CELLS")
    chosen = options.parse_args()
    platform = catalogue.load()[chosen.platform]
    task = TaskSource.model_validate({"task": _TASK, "reference": _REFERENCE, "origin": "benchmark"})
    kernel = Kernel(
        id="double", task="double", language="triton", file="kernel.py", function="entry",
        files={"kernel.py": _SOURCE}, origin="benchmark",
    )  # fmt: skip

    def judged(judge: Judge) -> Verdict:
        found = judge.judge(kernel, task, platform, _SWEEP, hidden_seed=1)
        assert found.status is Status.PASS, f"{found.status} {found.reason}: {found.detail}"
        return found

    with Judge() as judge:
        judged(judge)  # warms it up: imports, and truths that every kernel of the task shares
        verdicts = [judged(judge) for _ in range(chosen.cells)]
        own = [sum(trial.seconds or 0.0 for trial in found.trials) for found in verdicts]
        beyond = [found.duration_s - seconds for found, seconds in zip(verdicts, own, strict=True)]
        shapes = len(verdicts[0].trials)
        print(f"{platform.id}: {verdicts[0].evidence}, {shapes} shapes, 3 calls each, {chosen.cells} cells")
        print(f"  verdict  median {statistics.median(found.duration_s for found in verdicts):.3f} s")
        print(f"  kernel   median {statistics.median(own):.3f} s")
        print(f"  harness  median {statistics.median(beyond):.3f} s, worst {max(beyond):.3f} s")
        if chosen.again:
            before = resident()
            for count in range(1, chosen.again + 1):
                judged(judge)
                if count % max(1, chosen.again // 5) == 0:
                    print(f"  {count:5} more cells: judge {resident():.0f} MiB (started with {before:.0f})", flush=True)


if __name__ == "__main__":
    main()
