"""Makes torch answer as if the device were there: tensors, factories, ``torch.cuda``, ``torch.version``.

Every tensor is a CPU tensor. A function mode sees each call that Python code makes into torch, answers questions about
devices from the ledger, and turns ``device="cuda"`` into host memory that the ledger marks as the device's.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device

from kernelarena.platforms.persona.device_namespace import (
    NoGraph,
    accelerator_namespace,
    cuda_namespace,
    nvtx_namespace,
)
from kernelarena.platforms.persona.facts import PersonaFacts
from kernelarena.platforms.persona.ledger import Ledger
from kernelarena.platforms.persona.observer import FRAMEWORK, Observer
from kernelarena.platforms.persona.patching import Patches
from kernelarena.platforms.persona.threads import enter_in_threads

_DEVICE = torch.device("cuda", 0)
_HOST = torch.device("cpu")
_PLAIN = frozenset(
    {
        "__get__", "__set__", "data_ptr", "dim", "size", "stride", "numel", "element_size", "is_contiguous",
        "storage_offset", "is_floating_point", "untyped_storage", "ndimension", "nelement", "__len__", "item",
        "tolist", "__bool__", "__int__", "__float__", "__index__",
    }
)  # fmt: skip
"""Calls that neither take a device nor make memory: not worth a look."""


class FaceMode(TorchFunctionMode):
    """Answers for devices and places allocations."""

    def __init__(self, ledger: Ledger, observer: Observer) -> None:
        super().__init__()
        self._ledger = ledger
        self._observer = observer
        self._makers = _device._device_constructors()
        tensor: Any = torch.Tensor
        self._answers: dict[Any, Callable[..., Any]] = {
            tensor.device.__get__: lambda t: _DEVICE if self._ledger.on_device(t) else t.device,
            tensor.is_cuda.__get__: lambda t: self._ledger.on_device(t),
            tensor.is_cpu.__get__: lambda t: not self._ledger.on_device(t) and t.is_cpu,
            tensor.get_device: lambda t: 0 if self._ledger.on_device(t) else t.get_device(),
            torch.get_device: lambda t: 0 if self._ledger.on_device(t) else t.get_device(),
            tensor.to: self._to,
            tensor.cuda: lambda t, *args, **kwargs: self._move(t, True),
            tensor.cpu: lambda t, *args, **kwargs: self._move(t, False),
            tensor.pin_memory: lambda t, *args, **kwargs: t,
            tensor.is_pinned: lambda t, *args, **kwargs: False,
            tensor.numpy: self._numpy,
            tensor.__array__: self._numpy,
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        answer = self._answers.get(func)
        if answer is not None:
            return answer(*args, **kwargs)
        if getattr(func, "__name__", "") in _PLAIN:
            return func(*args, **kwargs)
        asked = kwargs.get("device")
        if asked is None and func in self._makers:
            asked = _device.CURRENT_DEVICE  # of set_default_device, whose own mode comes after this one
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        if asked is not None:
            asked = _as_device(asked)
            if asked.type not in ("cuda", "cpu"):
                return func(*args, **kwargs)
            kwargs = {**kwargs, "device": _HOST}
            on_device = asked.type == "cuda"
        else:
            on_device = any(map(self._ledger.on_device, _tensors_in((args, kwargs.values()))))
        with self._observer.placing(on_device):
            made = func(*args, **kwargs)
        for tensor in _tensors_in((made,)):
            self._ledger.enter(tensor, device=on_device)
        return made

    def _to(self, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        copy = bool(kwargs.pop("copy", False))
        if isinstance(kwargs.get("device"), int):
            kwargs["device"] = _as_device(kwargs["device"])
        if args and isinstance(args[0], int):
            args = (_as_device(args[0]), *args[1:])
        other = kwargs.pop("other", args[0] if args else None)
        if isinstance(other, torch.Tensor):
            device: Any = _DEVICE if self._ledger.on_device(other) else other.device
            dtype = other.dtype
            memory_format = kwargs.get("memory_format")
        else:
            if len(args) > 3:  # (device, dtype, non_blocking, copy)
                copy, args = copy or bool(args[3]), args[:3]
            elif len(args) == 3 and isinstance(args[0], torch.dtype):  # (dtype, non_blocking, copy)
                copy, args = copy or bool(args[2]), args[:2]
            device, dtype, _, memory_format = torch._C._nn._parse_to(*args, **kwargs)
        if device is not None and device.type not in ("cuda", "cpu"):
            return tensor.to(device, dtype)
        here = self._ledger.on_device(tensor)
        there = here if device is None else device.type == "cuda"
        wanted: dict[str, Any] = {"copy": copy or here != there}
        if memory_format is not None:
            wanted["memory_format"] = memory_format
        with self._observer.placing(there):
            made = tensor.to(dtype or tensor.dtype, **wanted)
        self._ledger.enter(made, device=there)
        return made

    def _move(self, tensor: torch.Tensor, device: bool) -> torch.Tensor:
        if self._ledger.on_device(tensor) == device:
            return tensor
        with self._observer.placing(device):
            made = tensor.clone()
        self._ledger.enter(made, device=device)
        return made

    def _numpy(self, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if self._ledger.on_device(tensor):
            raise TypeError(
                "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
                "first."
            )
        return tensor.numpy(*args, **kwargs)


def _as_device(device: Any) -> torch.device:
    """Return the device that is meant; a bare number is one of the accelerator's, which torch itself cannot know."""
    return torch.device("cuda", device) if isinstance(device, int) else torch.device(device)


def _tensors_in(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple) or type(value).__name__ == "dict_values":
            yield from _tensors_in(value)


class _Generator(torch._C.Generator):
    """A random generator of the host that says it is the device's."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        made: _Generator = super().__new__(cls, device="cpu")  # type: ignore[call-arg]
        made._claimed = torch.device(device)
        return made

    _claimed: torch.device

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device that it was asked for."""
        return _DEVICE if self._claimed.type == "cuda" else self._claimed


@contextlib.contextmanager
def torch_face(facts: PersonaFacts, ledger: Ledger, observer: Observer) -> Iterator[None]:
    """Have torch answer as the chip of ``facts`` within the block."""
    face = FaceMode(ledger, observer)
    run_backward = torch.autograd._engine_run_backward  # type: ignore[attr-defined]

    def engine(*args: Any, **kwargs: Any) -> Any:
        # Tensor.backward itself is a call that the mode sees and steps aside for; the kernel's own backward functions
        # run below it and must meet the face again.
        with face:
            return run_backward(*args, **kwargs)

    def compiled(model: Any = None, **_: Any) -> Any:
        # A compiled graph is framework code either way; running it operator by operator shows what it computes.
        return model if model is not None else (lambda function: function)

    with Patches() as patches, observer, face:
        patches.update(torch.cuda, cuda_namespace(facts))
        patches.update(torch.cuda.nvtx, nvtx_namespace())
        if hasattr(torch, "accelerator"):
            patches.update(torch.accelerator, accelerator_namespace())
        patches.set(torch.version, hip=facts.hip_version, cuda=facts.cuda_version)
        patches.set(torch.backends.cuda, is_built=lambda: True)
        patches.set(torch.autograd, _engine_run_backward=engine)
        patches.set(torch._C, _cuda_getCurrentRawStream=lambda device: 0)
        patches.set(torch, Generator=_Generator, compile=compiled)
        # Looks at the stream's class before any mode is asked.
        patches.set(torch.Tensor, record_stream=lambda tensor, stream: None)
        if observer.real:
            patches.set(torch.cuda, CUDAGraph=NoGraph, make_graphed_callables=NoGraph)
        _user_operators_keep_the_face(patches, observer, face)
        enter_in_threads(patches, observer, face)
        yield


def _user_operators_keep_the_face(patches: Patches, observer: Observer, face: FaceMode) -> None:
    """Have operators that the kernel registers for the device run where its tensors really are, and be seen.

    Whatever way an operator is defined, its implementations come by ``Library.impl``. They run below the dispatcher,
    where both modes have stepped aside, and must meet them again.
    """
    register = torch.library.Library.impl
    for_device: set[tuple[str, str]] = set()

    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **rest: Any) -> Any:
        if self.ns in FRAMEWORK or self.ns.startswith("_"):  # torch's own, imported late
            return register(self, op_name, fn, dispatch_key, **rest)  # type: ignore[no-untyped-call]
        operator = (self.ns, str(op_name))
        if isinstance(fn, FunctionType) and dispatch_key in ("", "CUDA", "CPU", "CompositeExplicitAutograd"):
            own = fn

            @functools.wraps(own)
            def fn(*args: Any, **kwargs: Any) -> Any:
                with observer, face:
                    return own(*args, **kwargs)

        if dispatch_key == "CUDA":  # goes to the CPU's place, where the tensors are, before what was meant for the CPU
            for_device.add(operator)
            try:
                return register(self, op_name, fn, "CPU", **rest)  # type: ignore[no-untyped-call]
            except RuntimeError:  # the place is taken; older versions of torch cannot give it to another
                with contextlib.suppress(RuntimeError, TypeError):
                    rest["allow_override"] = True
                    register(self, op_name, fn, "CPU", **rest)  # type: ignore[no-untyped-call]
                return None
        if dispatch_key == "CPU" and operator in for_device:
            return None
        return register(self, op_name, fn, dispatch_key, **rest)  # type: ignore[no-untyped-call]

    patches.set(torch.library.Library, impl=impl)
