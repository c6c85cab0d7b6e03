"""The headers that stand in for PyTorch's, and the Python behind them, built for the host and held against PyTorch."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest
import torch

from kernelarena.platforms.toolchains.cpp.extension import load
from kernelarena.platforms.toolchains.cpp.extension_text import NAMES

RUNTIME = """\
#pragma once
#include <cstring>
#define __host__
#define __device__
#define __global__ static
typedef void *cudaStream_t;
struct cudaDeviceProp { int multiProcessorCount; };
inline int cudaGetDeviceProperties(cudaDeviceProp *told, int) { return told->multiProcessorCount = 7, 0; }
inline const char *cudaGetErrorString(int) { return "an error of the runtime's"; }
inline int cudaGetLastError() { return 0; }
"""
HALF = """\
#pragma once
struct __half { unsigned short x; };
inline float __half2float(__half) { return 0; }
inline __half __float2half(float) { return {}; }
"""
SOURCE = """\
#include "runtime.h"
#include <ka_torch.h>
using torch::Tensor;

extern "C" void halves(const uint16_t *from, float *to, int n) {
  for (int i = 0; i < n; i++) to[i] = (float)ka::bits<at::Half>(from[i]);
}
extern "C" void to_halves(const float *from, uint16_t *half, uint16_t *bfloat, int n) {
  for (int i = 0; i < n; i++) half[i] = at::Half(from[i]).x, bfloat[i] = at::BFloat16(from[i]).x;
}

Tensor fill(Tensor x, double value, int64_t times) {
  auto made = torch::zeros({times, x.size(-1)}, x.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "fill", [&] {
    auto at = made.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>();
    for (int i = 0; i < at.size(0); i++)
      for (int j = 0; j < at.size(1); j++) at[i][j] = scalar_t(value) + x.data_ptr<scalar_t>()[j * x.stride(-1)];
  });
  return made;
}
Tensor checked(const Tensor &x) {
  TORCH_CHECK(x.dim() == 2, "expected a matrix, got ", x.dim(), " dims of ", x.sizes());
  return x;
}
double total(Tensor x) { return x.sum().item<double>(); }
Tensor kept(Tensor x) {
  static Tensor first = x;
  return first;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fill", &fill, "documented", py::arg("x"), py::arg("value") = 1.5, py::arg("times") = 2);
  m.def("checked", &checked);
  m.def("total", &total);
  m.def("kept", &kept);
  m.def("views", [](Tensor x) { return x.transpose(0, 1).reshape({-1, 2}).unsqueeze(0).contiguous(); });
  m.def("reduced", [](Tensor x) { return x.to(torch::kFloat64).mean({-1}, true) * 2 + x.amax(1) - 1.0f; });
  m.def("made", [](Tensor x) { return torch::full({2, 3}, 4.0, torch::dtype(torch::kInt32).device(torch::kCPU)); });
  m.def("joined", [](std::vector<Tensor> all, int64_t dim) { return torch::cat(all, dim); });
  m.def("scaled", [](Tensor x) { return torch::sigmoid(1 - x) / 3; });
  m.def("product", [](Tensor a, Tensor b) { return std::make_tuple(at::matmul(a, b), a.size(0), a.is_contiguous()); });
  m.def("chosen", [](Tensor x, c10::optional<Tensor> bias) { return bias.has_value() ? x + *bias : x.clone(); });
  m.def("processors", [] { return (int64_t)at::cuda::getCurrentDeviceProperties()->multiProcessorCount; });
  m.def("nothing", [](Tensor x) { x.zero_(); });
  m.def("floats", [](Tensor x) { return x.data_ptr<float>() != nullptr; });
  m.def("failed", [] { C10_CUDA_CHECK(2); });
}
"""
X = torch.arange(12, dtype=torch.float32).reshape(3, 4) - 5


class Host:
    """Calls functions on tensors of the host."""

    def __init__(self):
        self.told = []

    def address(self, tensor):
        return tensor.data_ptr()

    def on_device(self, tensor):
        return False

    def stream(self):
        return 0

    def launched(self, tensors):
        self.told.append([tuple(tensor.shape) for tensor in tensors])


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extension")
    for name, text in {"runtime.h": RUNTIME, "cuda_fp16.h": HALF, "unit.cpp": SOURCE}.items():
        (folder / name).write_text(text)
    built = folder / "unit.so"
    command = ["c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-DTORCH_EXTENSION_NAME=alone", f"-I{folder}"]
    subprocess.run([*command, f"-I{NAMES}", "-o", str(built), str(folder / "unit.cpp")], check=True)
    return built


@pytest.fixture(scope="module")
def extension(library):
    return load(library, Host())


@pytest.fixture
def call(extension):
    yield lambda name, *arguments, **named: extension.functions[name](*arguments, **named)
    assert len(extension._kept) <= 1  # what `kept` holds


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("views", (X,), X.transpose(0, 1).reshape(-1, 2).unsqueeze(0)),
        ("reduced", (X,), X.double().mean(-1, keepdim=True) * 2 + X.amax(1) - 1),
        ("made", (X,), torch.full((2, 3), 4, dtype=torch.int32)),
        ("joined", ([X, X], 1), torch.cat([X, X], 1)),
        ("scaled", (X,), torch.sigmoid(1 - X) / 3),
        ("chosen", (X, None), X),
        ("chosen", (X, X), X + X),
        ("checked", (X.t(),), X.t()),
    ],
)
def test_what_is_asked_of_pytorch_is_what_pytorch_says(call, name, arguments, expected):
    made = call(name, *arguments)
    assert (made.dtype, made.stride()) == (expected.dtype, expected.stride())
    assert torch.equal(made, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_elements_are_reached_by_pointers_and_accessors(call, dtype):
    row = X.to(dtype)[:, ::2]
    assert torch.equal(call("fill", row), (row[0] + 1.5).expand(2, 2))
    assert torch.equal(call("fill", row, times=1, value=-1.0), row[:1] - 1)


def test_other_values_come_back(call):
    product, rows, contiguous = call("product", X, X.t())
    assert torch.equal(product, X @ X.t())
    assert (rows, contiguous) == (3, True)
    assert call("total", X) == float(X.sum())
    assert call("processors") == 7
    zeroed = X.clone()
    assert call("nothing", zeroed) is None
    assert not zeroed.any()


def test_what_a_function_keeps_is_what_it_was_given_first(call):
    assert call("kept", X) is X
    assert call("kept", X + 1) is X


@pytest.mark.parametrize(
    ("name", "arguments", "error", "said"),
    [
        ("checked", (X[0],), RuntimeError, r"expected a matrix, got 1 dims of \[4\]"),
        ("product", (X, X), RuntimeError, "mat1 and mat2 shapes cannot be multiplied"),
        ("fill", (X.int(),), RuntimeError, '"fill" not implemented for'),
        ("floats", (X.double(),), RuntimeError, "expected a tensor of"),
        ("failed", (), RuntimeError, "an error of the runtime's"),
        ("total", (), TypeError, r"total\(\) takes 1 arguments, and was given 0"),
        ("total", (1.5,), TypeError, r"total\(\): a tensor is expected"),
        ("joined", ([X], 1.5), TypeError, "an integer is expected"),
        ("total", (object(),), TypeError, "of type object cannot be passed"),
    ],
)
def test_errors_are_exceptions(call, name, arguments, error, said):
    with pytest.raises(error, match=said):
        call(name, *arguments)


def test_what_was_touched_is_told(extension, call):
    extension._place.told.clear()
    call("floats", X)
    call("total", X)
    assert [(3, 4)] in extension._place.told  # its address was asked for
    assert extension._place.told[-1] == []  # and here it was not


def test_numbers_of_sixteen_bits_are_rounded_as_pytorch_does(library):
    functions = ctypes.CDLL(str(library))
    every = np.arange(1 << 16, dtype=np.uint16)
    wide = np.empty(every.size, np.float32)
    functions.halves(every.ctypes.data_as(ctypes.c_void_p), wide.ctypes.data_as(ctypes.c_void_p), every.size)
    np.testing.assert_array_equal(wide, every.view(np.float16).astype(np.float32))
    bits = np.random.default_rng(5).integers(0, 1 << 32, 200_000, dtype=np.uint32)
    edges = np.sort(wide[np.isfinite(wide)])
    halfway = ((edges[1:].astype(np.float64) + edges[:-1]) / 2).astype(np.float32)
    floats = np.concatenate([bits.view(np.float32), edges, halfway])
    half, bfloat = np.empty(floats.size, np.uint16), np.empty(floats.size, np.uint16)
    functions.to_halves(*(each.ctypes.data_as(ctypes.c_void_p) for each in (floats, half, bfloat)), floats.size)
    told = torch.from_numpy(floats)
    number = ~np.isnan(floats)
    for made, dtype in ((half, torch.float16), (bfloat, torch.bfloat16)):
        expected = told.to(dtype).view(torch.int16).numpy().view(np.uint16)
        np.testing.assert_array_equal(made[number], expected[number])
        assert torch.from_numpy(made.view(np.int16)).view(dtype)[~torch.from_numpy(number)].isnan().all()
