"""Host code's questions, asked of a chip that is not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from kernelarena.platforms import catalogue
from kernelarena.platforms.persona import emulation, persona
from tests.platforms.persona.forked import forked

pytest.importorskip("triton")
PLATFORMS = catalogue.load()


def worn(body: Callable[[], None], tmp_path: Path, platform: str = "mi300") -> None:
    def child() -> None:
        with persona(PLATFORMS[platform], folder=tmp_path, scratch=tmp_path, emit=lambda event: None) as chip:
            globals()["chip"] = chip
            body()

    forked(child)


def check_tensors() -> None:
    x = torch.empty(4, 4, device="cuda")
    assert x.is_cuda
    assert not x.is_cpu
    assert x.device == torch.device("cuda", 0)
    assert str(x.device) == "cuda:0"
    assert x.get_device() == 0
    assert x.device.type == "cuda"
    host = torch.zeros(3)
    assert not host.is_cuda
    assert host.device.type == "cpu"
    assert host.get_device() == -1
    assert (host + 1).device.type == "cpu"
    assert (x + 1).is_cuda
    assert x[1:, ::2].T.is_cuda
    assert torch.matmul(x, x).softmax(-1).is_cuda
    for made in (
        torch.empty_like(x), x.new_zeros(3), torch.zeros_like(x), torch.ones(2, device=x.device), x.clone(),
        torch.arange(4, device="cuda:0"), torch.tensor([1.0], device="cuda"), torch.rand(2, device="cuda"),
        torch.full((2,), 1.0, device=torch.device("cuda")), torch.linspace(0, 1, 4, device=0),
    ):  # fmt: skip
        assert made.is_cuda
    assert not torch.empty_like(x, device="cpu").is_cuda


def check_moves() -> None:
    host = torch.tensor([1.0, 2.0])
    for there in (
        host.cuda(), host.to("cuda"), host.to(torch.device("cuda", 0), torch.float16), host.to(device="cuda"),
        host.to("cuda", non_blocking=True), host.to(torch.empty(1, device="cuda")), host.pin_memory().cuda(),
        host.to("cuda", torch.float64, True, True), host.to(0), host.to(device=0), host.cuda(0),
    ):  # fmt: skip
        assert there.is_cuda
        assert there.tolist() == [1.0, 2.0]
        assert there.data_ptr() != host.data_ptr()
    assert not host.is_cuda
    there = host.cuda()
    assert there.to("cuda").data_ptr() == there.data_ptr()
    assert there.to(torch.float16).dtype == torch.float16
    assert there.half().is_cuda
    assert not there.cpu().is_cuda
    assert not there.to("cpu").is_cuda
    assert there.cpu().numpy().tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        there.numpy()
    assert there.sum().item() == 3.0


def check_default_devices() -> None:
    with torch.device("cuda"):
        assert torch.zeros(2).is_cuda
    assert not torch.zeros(2).is_cuda
    torch.set_default_device("cuda")
    assert torch.ones(2).is_cuda
    assert not torch.ones(2, device="cpu").is_cuda
    torch.set_default_device(None)
    assert not torch.ones(2).is_cuda


def check_modules() -> None:
    for module in (
        torch.nn.Linear(4, 4).cuda(), torch.nn.Linear(4, 4).to("cuda"), torch.nn.Linear(4, 4, device="cuda"),
    ):  # fmt: skip
        assert module.weight.is_cuda
        assert module(torch.zeros(2, 4, device="cuda")).is_cuda


def check_autograd() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cuda")
        def forward(ctx, x):
            ctx.save_for_backward(x)
            assert x.is_cuda
            return x * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cuda")
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            assert x.is_cuda
            assert grad.is_cuda
            assert torch.empty(2, device="cuda").is_cuda
            return grad * 2

    x = torch.ones(3, device="cuda", requires_grad=True)
    Double.apply(x).backward(torch.ones(3, device="cuda"))
    assert x.grad.is_cuda
    (grad,) = torch.autograd.grad(Double.apply(x).sum(), x)
    assert grad.tolist() == [2.0, 2.0, 2.0]


def check_runtime() -> None:
    cuda = torch.cuda
    assert cuda.is_available()
    assert cuda.device_count() == 1
    assert cuda.current_device() == 0
    assert torch.accelerator.current_accelerator().type == "cuda"
    x = torch.empty(1, device="cuda")
    with cuda.device(0), cuda.stream(cuda.Stream()), cuda.device_of(x):
        cuda.synchronize()
    x.record_stream(cuda.Stream())
    x.record_stream(cuda.current_stream())
    assert cuda.current_stream().cuda_stream == cuda.default_stream().cuda_stream == 0
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    start.record()
    end.record()
    assert start.elapsed_time(end) > 0
    free, total = cuda.mem_get_info()
    assert 0 < free <= total == cuda.get_device_properties(0).total_memory
    cuda.manual_seed(7)
    first = torch.rand(3, device="cuda")
    torch.manual_seed(7)
    assert torch.equal(first, torch.rand(3, device="cuda"))
    generator = torch.Generator(device="cuda").manual_seed(1)
    assert generator.device.type == "cuda"
    assert torch.rand(3, device="cuda", generator=generator).is_cuda
    with torch.autocast("cuda", dtype=torch.float16), cuda.nvtx.range("x"), cuda.graph(cuda.CUDAGraph()):
        pass
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        cuda.get_device_name(3)
    assert torch.compile(len)([1]) == 1
    assert torch.compile(mode="max-autotune")(len)([1]) == 1


@pytest.mark.parametrize(
    "body", [check_tensors, check_moves, check_default_devices, check_modules, check_autograd, check_runtime]
)
def test_torch_answers_as_on_the_device(body, tmp_path):
    worn(body, tmp_path)


@pytest.mark.parametrize("platform", ["mi250", "mi300", "rx7900", "a100", "h100", "b200"])
def test_every_way_of_asking_gives_the_same_chip(platform, tmp_path):
    def body() -> None:
        import triton

        target = triton.runtime.driver.active.get_current_target()
        properties = torch.cuda.get_device_properties(torch.device("cuda"))
        utils = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
        assert target.warp_size == properties.warp_size == utils["warpSize"]
        assert properties.multi_processor_count == utils["multiprocessor_count"]
        assert torch.cuda.get_device_capability() == (properties.major, properties.minor)
        assert torch.cuda.get_device_name() == properties.name == PLATFORMS[platform].title
        if torch.version.hip:
            assert torch.version.cuda is None
            assert target.backend == "hip"
            assert properties.gcnArchName.split(":")[0] == target.arch == PLATFORMS[platform].arch
        else:
            assert torch.version.cuda is not None
            assert target.backend == "cuda"
            assert target.arch == properties.major * 10 + properties.minor
        assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cuda", 0)
        assert triton.testing.do_bench(lambda: None) == 1.0
        assert triton.testing.do_bench(lambda: None, quantiles=[0.5, 0.2, 0.8]) == [1.0, 1.0, 1.0]

    worn(body, tmp_path, platform)


def test_where_launches_run_there_are_no_graphs_of_them(tmp_path):
    def child() -> None:
        with emulation(PLATFORMS["cpu"], tmp_path):
            for capture in (torch.cuda.CUDAGraph, lambda: torch.cuda.make_graphed_callables(len, ())):
                with pytest.raises(NotImplementedError, match="interpreter mode"):
                    capture()

    forked(child)


def test_everything_is_put_back(tmp_path):
    def state() -> list[object]:
        import triton

        return [
            torch.cuda.is_available, torch.cuda.Stream, torch.version.hip, torch.version.cuda, torch.compile,
            torch.Generator, triton.compiler.compile, triton.runtime.driver._active, triton.testing.do_bench,
            torch.library.Library.impl, torch.autograd._engine_run_backward, torch.Tensor.record_stream,
        ]  # fmt: skip

    def child() -> None:
        before = state()
        with persona(PLATFORMS["h100"], folder=tmp_path, scratch=tmp_path, emit=lambda event: None):
            assert torch.cuda.is_available()
            assert state() != before
        assert state() == before
        assert torch.zeros(1).device.type == "cpu"

    forked(child)


def test_operators_that_a_kernel_registers_for_the_device_run_and_are_seen(tmp_path):
    def body() -> None:
        library = torch.library.Library("mine", "DEF")
        library.define("twice(Tensor x) -> Tensor")

        def twice(x: torch.Tensor) -> torch.Tensor:
            assert x.is_cuda
            return torch.matmul(torch.softmax(x, -1), x)

        def never(x: torch.Tensor) -> torch.Tensor:
            raise AssertionError("the CPU's implementation")

        library.impl("twice", never, "CPU")
        library.impl("twice", twice, "CUDA")
        library.define("half(Tensor x) -> Tensor")
        library.impl("half", lambda x: x / 2, "CUDA")
        library.impl("half", never, "CPU")

        @torch.library.custom_op("mine::thrice", mutates_args=(), device_types="cuda")
        def thrice(x: torch.Tensor) -> torch.Tensor:
            return torch.empty(3, device=x.device)

        with chip.observer.call() as observed:  # noqa: F821  set by worn
            assert torch.ops.mine.twice(torch.zeros(4, 4, device="cuda")).is_cuda
            assert torch.ops.mine.half(torch.zeros(4, device="cuda")).is_cuda
            assert thrice(torch.zeros(4, device="cuda")).is_cuda
        assert observed.operators["aten::mm"].flops == 2 * 4 * 4 * 4
        assert set(observed.operators) == {"aten::_softmax", "aten::mm", "aten::div"}

    worn(body, tmp_path)
