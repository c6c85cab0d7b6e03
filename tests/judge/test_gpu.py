"""On a host that has a GPU, compiling and emulating must behave as they do on one that has none, and not touch it."""

import pytest

from kernelarena.judge import Judge
from kernelarena.platforms.backend import backend_for
from kernelarena.spec import Evidence, Status, Sweep
from kernelarena.spec.catalogue import load_tasks, shipped_kernels
from kernelarena.spec.kernels import load_kernels

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _device(platforms):
    if not any(backend_for(platform).devices() for platform in platforms.values() if backend_for(platform)):
        pytest.skip("no backend finds a GPU in this host")


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.mark.parametrize("platform", ["mi300", "h100", "cpu"])
def test_a_shipped_kernel_passes_beside_a_real_device(judge, platforms, platform):
    tasks = load_tasks()
    kernels, _ = load_kernels(shipped_kernels(), tasks=set(tasks))
    subject = next(kernel for kernel in kernels if kernel.task == "softmax")
    found = judge.judge(subject, tasks["softmax"], platforms[platform], Sweep(cache=False), 7)
    assert found.status is Status.PASS, found.detail
    assert found.evidence is (Evidence.EMULATED if platform == "cpu" else Evidence.COMPILED)


@pytest.mark.parametrize("platform", ["mi300", "h100"])
def test_the_persona_answers_and_not_the_device(judge, kernel, platforms, platform):
    """The kernel raises what it is told of its device, so that the answer shows in the verdict."""
    source = """
    import torch, triton

    def entry(x):
        properties = torch.cuda.get_device_properties(0)
        target = triton.runtime.driver.active.get_current_target()
        raise ValueError(f"{properties.name} | {target.arch} | {x.device}")
    """
    tasks = load_tasks()
    found = judge.judge(kernel(source), tasks["softmax"], platforms[platform], Sweep(cache=False), 7)
    assert platforms[platform].title.split(" (")[0].split()[2] in found.detail
    assert "cuda:0" in found.detail
