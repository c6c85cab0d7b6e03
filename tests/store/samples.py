"""A small run to store: two kernels on two platforms."""

import functools

from kernelarena.platforms import catalogue
from kernelarena.spec import Evidence, Hidden, Kernel, Language, Manifest, Reason, Status, Sweep, Verdict
from kernelarena.spec.catalogue import load_tasks
from kernelarena.store import Run

KERNELS = ("one", "two")
PLATFORMS = ("mi300", "h100")
CELLS = [(kernel, platform) for kernel in KERNELS for platform in PLATFORMS]
SEED = 1234567890123456789


def kernel(name, source="def softmax(x):\n    return x\n"):
    return Kernel(
        id=name,
        task="softmax",
        language=Language.TRITON,
        file="kernel.py",
        function="softmax",
        files={"kernel.py": source},
        origin=f"somewhere/{name}",
    )


def verdict(name="one", platform="mi300", status=Status.PASS, detail="", **more):
    known = status in (Status.PASS, Status.FAIL)
    reasons = {Status.FAIL: Reason.MISMATCH, Status.INFRA: Reason.WORKER_LOST, Status.SKIPPED: Reason.TOOLCHAIN_MISSING}
    return Verdict(
        task="softmax",
        kernel=name,
        language=Language.TRITON,
        platform=platform,
        status=status,
        reason=reasons.get(status),
        evidence=Evidence.COMPILED if known else None,
        detail=detail,
        **more,
    )


def manifest(run_id="20261130-142530-ab12", **changes):
    fields = {
        "id": run_id,
        "created": "2026-11-30T14:25:30+00:00",
        "sweep": Sweep(hidden=Hidden(seed=SEED)),
        "platforms": PLATFORMS,
        "kernels": KERNELS,
    }
    return Manifest(**{**fields, **changes})


@functools.cache
def surroundings():
    platforms = catalogue.load()
    return {name: platforms[name] for name in PLATFORMS}, {"softmax": load_tasks()["softmax"]}


def create(path, *, kernels=KERNELS, seed=SEED, **changes):
    return Run.create(
        path,
        manifest(kernels=tuple(kernels), **changes),
        *surroundings(),
        [kernel(name) for name in kernels],
        hidden_seed=seed,
    )
