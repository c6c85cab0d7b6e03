"""Extensions of PyTorch's, as they are generated: a source with a module, and a Python file that builds one."""

from __future__ import annotations

import pytest

from kernelarena.judge.cpp import judge_cpp
from kernelarena.judge.zygote import Mode, Zygote
from kernelarena.platforms.backend import availability
from kernelarena.platforms.toolchains import cpp
from kernelarena.spec import Evidence, Kernel, Language, Reason, Status
from tests.judge.test_judge import ADD_ONE, SMALL

SOURCE = """\
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#define CHECK_INPUT(x) TORCH_CHECK(x.is_cuda() && x.dim() == 2, #x " must be a matrix on the device")

template <typename scalar_t>
__global__ void add_one_kernel(const scalar_t *__restrict__ x, scalar_t *y, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + scalar_t(1);
}

torch::Tensor add_one(torch::Tensor x) {
  CHECK_INPUT(x);
  auto input = x.contiguous();
  auto y = torch::empty_like(input);
  const int64_t n = input.numel();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "add_one", [&] {
    add_one_kernel<scalar_t><<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        input.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &add_one, "adds one");
}
"""
BUILDER = '''\
import torch
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void add_one_kernel(const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + 1.0f;
}

torch::Tensor add_one(torch::Tensor x) {
    auto input = x.to(torch::kFloat32).contiguous();
    auto out = torch::empty_like(input);
    add_one_kernel<<<(input.numel() + 255) / 256, 256>>>(input.data_ptr<float>(), out.data_ptr<float>(), input.numel());
    return out.to(x.scalar_type());
}
"""
declared = "torch::Tensor add_one(torch::Tensor x);"
module = load_inline(name="add_one", cpp_sources=[declared], cuda_sources=[source], functions=["add_one"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return module.add_one(x.cuda())
'''
SIZES = "const int64_t n = input.numel();"


@pytest.fixture(scope="module")
def zygote():
    zygote = Zygote(Mode.COMPILE)
    yield zygote
    zygote.close()


@pytest.fixture
def judged(zygote, platforms):
    def judge(source, platform="h100", function="forward", file="kernel.cu"):
        chip = platforms[platform]
        try:
            cpp.find(Language.CUDA, chip.arch)
        except cpp.Missing as missing:
            pytest.skip(str(missing))
        kernel = Kernel(
            id="under-test", task="add_one", language="cuda", file=file, function=function, files={file: source},
            origin="a test",
        )  # fmt: skip
        return judge_cpp(lambda: zygote, kernel, ADD_ONE, chip, SMALL, availability(chip))[0]

    return judge


def edited(old, new, source=SOURCE):
    assert old in source
    return source.replace(old, new, 1)


@pytest.mark.parametrize("platform", ["h100", "mi300"])
def test_a_source_with_a_module(judged, platform):
    found = judged(SOURCE, platform)
    assert (found["status"], found["evidence"], found["detail"]) == (Status.PASS, Evidence.COMPILED, "")
    assert found["visible"].passed == found["visible"].total == 4
    assert {launch.kernel for launch in found["launches"]} == {"add_one_kernel<float>", "add_one_kernel<c10::Half>"}
    assert found["launches"][0].location.line == 7
    assert found["launches"][0].resources.registers > 0


def test_python_that_builds_one(judged):
    """The lines are those of the Python file, and the operators that it leaves to the framework are seen."""
    found = judged(BUILDER, function="ModelNew", file="kernel.py")
    assert (found["status"], found["detail"]) == (Status.PASS, "")
    assert found["visible"].passed == 4
    assert found["launches"][0].location.line == 7
    broken = judged(edited("out[i] = x[i]", "out[i] = z[i]", BUILDER), function="ModelNew", file="kernel.py")
    assert (broken["reason"], broken["location"].line) == (Reason.COMPILE_ERROR, 9)
    assert "z" in broken["detail"]


@pytest.mark.parametrize(
    ("edits", "reason", "detail"),
    [
        pytest.param(("256, 0, at", "2048, 0, at"), Reason.RESOURCE_EXCEEDED, "2048 threads per block", id="threads"),
        pytest.param(
            (SIZES, f"{SIZES} if (n > 0) return x + 1.0;"), Reason.FRAMEWORK_FALLBACK, "aten::add", id="framework"
        ),
        pytest.param(
            (SIZES, "const int64_t n = ((const int64_t *)input.data_ptr())[0];"), Reason.ILLEGAL_ACCESS, "", id="reads"
        ),
    ],
)
def test_a_fault_has_one_reason(judged, edits, reason, detail):
    found = judged(edited(*edits))
    assert (found["status"], found["reason"]) == (Status.FAIL, reason), found["detail"]
    assert detail in found["detail"]


def test_an_entry_that_the_module_does_not_have(judged):
    found = judged(edited('m.def("forward"', 'm.def("backward"'), function="forward")
    assert found["reason"] in (Reason.COMPILE_ERROR, Reason.IMPORT_ERROR)
    assert "forward" in found["detail"]


def test_a_function_that_is_not_declared_where_pytorch_looks(judged):
    source = edited('"torch::Tensor add_one(torch::Tensor x);"', '""', BUILDER)
    found = judged(source, function="ModelNew", file="kernel.py")
    assert (found["reason"], found["status"]) == (Reason.COMPILE_ERROR, Status.FAIL)
    assert "declare it in cpp_sources" in found["detail"]


def test_what_the_stand_in_does_not_have_is_nobodys_fault(judged):
    found = judged(edited(SIZES, f"{SIZES} auto parts = at::fft_fft(input);"))
    assert (found["status"], found["reason"]) == (Status.SKIPPED, Reason.DEVICE_UNAVAILABLE)
    assert (found["evidence"], found["gate"]) == (None, None)
    assert "'fft_fft' is not among what the harness has of PyTorch's" in found["detail"]
