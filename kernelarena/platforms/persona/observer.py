"""Watches the framework operators that host code runs: what they compute, move and allocate, and from what.

The operators are observed where they are dispatched, not in the source, so that no spelling hides one. Under a
persona nothing that a kernel would have written is real, hence large operators are not worth computing: those are
described on torch's meta device and answered with zeros.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from kernelarena.platforms.persona.account import Observed
from kernelarena.platforms.persona.handed import Handed
from kernelarena.platforms.persona.ledger import Ledger, StorageFacts, Work
from kernelarena.platforms.persona.memory import lazy_zeros
from kernelarena.platforms.persona.operators import (
    allocated_by,
    as_meta,
    flops_of,
    is_composite,
    is_contraction,
    returned_by,
    tensors_in,
    written_by,
)
from kernelarena.platforms.persona.provenance import Provenance
from kernelarena.platforms.persona.traffic import Traffic
from kernelarena.platforms.persona.widened import is_widening, widened

_aten = torch.ops.aten
_ALLOCATE = {
    _aten.empty, _aten.empty_like, _aten.empty_strided, _aten.new_empty, _aten.new_empty_strided,
    _aten.empty_permuted, _aten.zeros, _aten.zeros_like, _aten.new_zeros, _aten.ones, _aten.ones_like,
    _aten.new_ones, _aten.full, _aten.full_like, _aten.new_full, _aten.scalar_tensor,
}  # fmt: skip
_FILL = {_aten.fill_, _aten.zero_, _aten.fill, _aten.zero}
_MOVE = {
    _aten.copy_, _aten.copy, _aten.clone, _aten._to_copy, _aten.cat, _aten.stack, _aten.constant_pad_nd,
    _aten.repeat, _aten.roll, _aten.flip, _aten.lift_fresh, _aten.lift_fresh_copy, _aten.view_copy,
    _aten.contiguous, _aten.split_copy,
}  # fmt: skip
"""They carry values about, or change their format, but compute none."""
_METADATA = {
    _aten.detach, _aten.alias, _aten._reshape_alias, _aten.resize_, _aten.set_, _aten._local_scalar_dense,
    _aten._unsafe_view,  # what reshape() ends with where it had to copy
    _aten.is_same_size, _aten.lift, _aten.resize_as_, _aten._efficientzerotensor, _aten.sym_size, _aten.sym_stride,
    _aten.sym_numel, _aten.sym_storage_offset,
}  # fmt: skip
_LOOKS = {_aten._local_scalar_dense, _aten._assert_async}
"""Host code looks at a value, and nothing else becomes of it."""
FRAMEWORK = frozenset({"torchvision", *(name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names())})
"""Namespaces of operators that are the framework's own: whatever is there before any kernel is imported, which may
register others for itself."""
_SKIP_ELEMENTS = 2**22
"""Operators that touch more elements than this are answered with zeros where values do not matter."""
_SKIP_FLOPS = 1e8


class _Placement(threading.local):
    """Where new memory is, in the calls under way in a thread; None: where what it is computed from is."""

    device: bool | None = None


class Interpreted:
    """A launch that takes place in this process's memory, from here on.

    Parameters
    ----------
    provenance, handed
        Told of what it is handed.
    tensors
        Its arguments.
    """

    def __init__(self, provenance: Provenance, handed: Handed, tensors: Sequence[torch.Tensor]) -> None:
        self._provenance = provenance
        self._handed = handed
        self._tensors = tensors
        self._begin()

    def _begin(self) -> None:
        self._provenance.launching(self._tensors)
        self.before = self._handed.launching(self._tensors)

    @contextlib.contextmanager
    def interrupted(self) -> Iterator[None]:
        """Have the block be host code's: what it writes is not the launch's, which begins only after it."""
        self._provenance.launched(())
        try:
            yield
        finally:
            self._begin()


class Observer(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the ledger and the account of the current call.

    Parameters
    ----------
    ledger
        Entries of all storages.
    real
        Whether values matter, so that every operator must be computed (emulation).
    memory
        Bytes of the pretended device; a larger allocation fails as it would there. None: no limit.
    provenance
        Told who writes what, where launches take place in this process's memory; None elsewhere.
    exempt
        Operators that the task allows: what they make may be an output. They are accounted for all the same.
    """

    SEALED = ("ledger", "exempt", "real", "_provenance", "_handed", "_memory")
    """Attributes that stay what they are while a kernel runs."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        real: bool,
        memory: int | None = None,
        provenance: Provenance | None = None,
        exempt: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ledger = ledger
        self._provenance = provenance
        self._handed = Handed(ledger)
        self.observed = Observed(ledger, self._handed, provenance)
        self.exempt = exempt
        self.real = real
        self._memory = memory
        self._placement = _Placement()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Nothing is compiled by torch here, and shielding the dispatch function from its compiler would import that
        # compiler at the first operator, which takes seconds.
        return False

    @contextlib.contextmanager
    def call(self, given: Sequence[torch.Tensor] = ()) -> Iterator[Observed]:
        """Account for one call of the entry on its own; ``given`` is what the judge wrote for it."""
        self.ledger.forget_launches()
        self._handed.next_call()
        self.observed = Observed(self.ledger, self._handed, self._provenance)
        with contextlib.nullcontext() if self._provenance is None else self._provenance.call(given):
            yield self.observed

    def allocated(self, tensor: torch.Tensor, *, device: bool) -> None:
        """Note that the harness handed memory out, in the place of what an operator made."""
        entry = self.ledger.enter(tensor, device=False)
        if entry is not None:
            entry.device = device
        if self._provenance is not None:
            self._provenance.written([tensor], 0, over=True)

    @contextlib.contextmanager
    def placing(self, device: bool) -> Iterator[None]:
        """Have memory that is allocated within play the device's, or the host's, whatever it is computed from."""
        before, self._placement.device = self._placement.device, device
        try:
            yield
        finally:
            self._placement.device = before

    @contextlib.contextmanager
    def interpreting(self, tensors: Sequence[torch.Tensor], kernel: str, traffic: Traffic) -> Iterator[Interpreted]:
        """Note a launch that takes place within the block, in this process's memory; one that raises is none.

        Parameters
        ----------
        tensors
            Its arguments.
        kernel
            The device function's name.
        traffic
            What it loads and stores.
        """
        assert self._provenance is not None
        launch = Interpreted(self._provenance, self._handed, tensors)
        try:
            yield launch
        finally:
            self._provenance.launched([tensor for tensor in tensors if traffic.stored(tensor)], traffic.strays)
        self._handed.launched(launch.before)
        self.launched(tensors, tuning=False, kernel=kernel)
        self.observed.loaded(tensors, traffic)

    def launched(self, tensors: Sequence[torch.Tensor], *, tuning: bool, kernel: str = "") -> None:
        """Note that ``tensors`` were handed to a launch.

        Parameters
        ----------
        tensors
            Its arguments.
        tuning
            Whether it was an autotuner's trial.
        kernel
            The device function's name, as far as known.
        """
        for tensor in tensors:
            entry = self.ledger.enter(tensor, device=True)
            if entry is not None:
                entry.launched = True
        if not tuning:
            self.observed.launch(tensors, kernel)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if is_composite(func):
            with self:  # so that its parts are seen: torch itself takes it apart only above this mode
                made = func.decompose(*args, **kwargs)
            if made is not NotImplemented:
                return made
        sources = tensors_in(args, kwargs)
        written = written_by(func, args, kwargs)
        passed_on = 0 if self._provenance is None else self._provenance.used(sources, written)
        try:
            made = self._execute(func, args, kwargs, sources, written)
        except (RuntimeError, MemoryError) as error:
            if isinstance(error, MemoryError) or "DefaultCPUAllocator" in str(error):
                raise self._out_of_memory(func, str(error)) from None
            raise
        results = tensors_in(made)
        self._enter(sources, results)
        self._account(func, args, kwargs, sources, results, written, made)
        if self._provenance is not None and not (func.is_view or (func.overloadpacket in _METADATA and not written)):
            over = func.overloadpacket in _FILL or func.overloadpacket is _aten.copy_
            self._provenance.written([*results, *written], passed_on, over=over)
        return made

    def _execute(self, func: Any, args: Any, kwargs: Any, sources: list[Any], written: list[Any]) -> Any:
        if self.real:
            try:
                return func(*args, **kwargs)
            except NotImplementedError:  # of an overload that only devices have
                if is_widening(func):
                    return widened(func, args, kwargs)
                raise
        large = sum(tensor.numel() for tensor in sources if tensor.layout == torch.strided) > _SKIP_ELEMENTS
        if func.overloadpacket in _ALLOCATE and allocated_by(args) <= _SKIP_ELEMENTS:
            return func(*args, **kwargs)  # small enough to be what the host code says it is
        if func.overloadpacket in _ALLOCATE or large:
            if func.is_view or func.overloadpacket in _METADATA:
                return func(*args, **kwargs)
            return self._describe(func, args, kwargs, written)
        if is_contraction(func):
            with contextlib.suppress(Exception):  # torch's descriptions of rare overloads have faults of their own
                meta_args, meta_kwargs = as_meta((args, kwargs))
                if flops_of(func, meta_args, meta_kwargs, func(*meta_args, **meta_kwargs)) > _SKIP_FLOPS:
                    return self._describe(func, args, kwargs, written)
        try:
            return func(*args, **kwargs)
        except NotImplementedError:  # an overload that only devices have, such as mm with an output dtype of its own
            return self._describe(func, args, kwargs, written)

    def _out_of_memory(self, func: Any, said: str) -> Exception:
        """Return what is to be raised where this host has no memory left, as ``said`` by torch's allocator."""
        asked = re.search(r"allocate (\d+) bytes", said)
        if self.real and self._memory is not None and asked is not None and int(asked[1]) <= self._memory:
            from kernelarena.platforms.emulator.fault import Unsupported

            return Unsupported(f"an allocation of {asked[1]} bytes, which the chip has and this host has not")
        return torch.OutOfMemoryError(f"out of memory on the device: {func.overloadpacket}")

    def _describe(self, func: Any, args: Any, kwargs: Any, written: list[Any]) -> Any:
        """Answer with what the operator would return, without computing it if that is much."""
        if written:
            return returned_by(func, written)
        try:
            meta_args, meta_kwargs = as_meta((args, kwargs))
            if "device" in meta_kwargs:
                meta_kwargs["device"] = torch.device("meta")
            made = func(*meta_args, **meta_kwargs)
        except (NotImplementedError, RuntimeError):
            return func(*args, **kwargs)
        size = sum(leaf.numel() * leaf.element_size() for leaf in tensors_in(made))
        if self._memory is not None and size > self._memory:
            raise torch.OutOfMemoryError(
                f"out of memory on the device: tried to allocate {size} bytes of {self._memory}"
            )
        return tree_map_only(
            torch.Tensor,
            lambda leaf: lazy_zeros(leaf.shape, leaf.stride(), leaf.dtype) if leaf.device.type == "meta" else leaf,
            made,
        )

    def _enter(self, sources: list[Any], results: list[Any]) -> None:
        device = self._placement.device
        if device is None:
            device = any(map(self.ledger.on_device, sources))
        for result in results:
            self.ledger.enter(result, device=device)

    def _account(
        self, func: Any, args: Any, kwargs: Any, sources: list[Any], results: list[Any], written: list[Any], made: Any
    ) -> None:
        packet = func.overloadpacket
        if packet in _ALLOCATE:
            return
        origins = [entry for entry in map(self.ledger.find, sources) if entry is not None]
        if packet in _LOOKS or (packet in _MOVE and sum(result.numel() for result in results) == 1):
            # Or it is taken along, a single number: what is made of it counts where it goes.
            self.observed.read(origins)
        if func.is_view or packet in _METADATA:
            return
        targets = [entry for entry in map(self.ledger.find, (*results, *written)) if entry is not None]
        name = func._schema.name
        if packet in _FILL or packet is _aten.copy_:
            taken = map(self.ledger.find, sources[1:]) if packet is _aten.copy_ else ()  # the first is what is written
            self._overwrite(written, [entry for entry in taken if entry is not None])
            return
        outputs = _outputs(func)
        inputs = tensors_in(args, [value for name, value in kwargs.items() if name not in outputs])
        read = [entry for entry in map(self.ledger.find, inputs) if entry is not None]
        from_kernel = [entry.launched or entry.derived if packet in _MOVE else entry.from_kernel for entry in read]
        if any(from_kernel) or name in self.exempt:
            _mark_derived(targets)
        else:
            self._replace(tensors_in([kwargs.get(output) for output in outputs]))
        if packet in _MOVE or func.namespace not in FRAMEWORK:
            _pass_on(read, targets)
        elif targets:  # what returns no tensor could be no output
            self._charge(name, func, args, kwargs, (*sources, *results), made, targets)

    def _overwrite(self, written: list[Any], origins: list[StorageFacts]) -> None:
        for tensor in written:
            entry = self.ledger.find(tensor)
            if entry is None or any(origin is entry for origin in origins):
                continue  # what is copied onto itself is still what it was
            if any(origin.launched or origin.derived for origin in origins):
                entry.derived = True
            else:
                self._replace([tensor])
            _pass_on(origins, [entry])

    def _replace(self, tensors: Sequence[Any]) -> None:
        """Note that nothing of what a storage held is left, where all of it was written."""
        for tensor in tensors:
            entry = self.ledger.find(tensor) if isinstance(tensor, torch.Tensor) else None
            if entry is not None and tensor.numel() * tensor.element_size() >= tensor.untyped_storage().nbytes():
                entry.launched = entry.derived = False
                entry.work.clear()

    def _charge(
        self, name: str, func: Any, args: Any, kwargs: Any, tensors: Sequence[Any], made: Any,
        targets: list[StorageFacts],
    ) -> None:  # fmt: skip
        known = [entry for entry in map(self.ledger.find, tensors) if entry is not None]
        work = Work(
            name,
            elements=sum(tensor.numel() for tensor in tensors if tensor.layout == torch.strided),
            flops=flops_of(func, args, kwargs, made) if is_contraction(func) else 0.0,
            sources=tuple(source for entry in known for source in entry.work),
        )
        for entry in targets:
            entry.work[:] = [work]
        self.observed.charge(work)


@cache
def _outputs(func: Any) -> frozenset[str]:
    """Return the names of what an operator writes and does not read, such as ``out``."""
    return frozenset(
        argument.name
        for argument in func._schema.arguments
        if argument.kwarg_only and argument.alias_info is not None and argument.alias_info.is_write
    )


def _pass_on(sources: Sequence[StorageFacts], targets: Sequence[StorageFacts]) -> None:
    """Note that what was computed into some memory is now in another, too."""
    works = [work for source in sources for work in source.work]
    for entry in targets:
        entry.work += [work for work in dict.fromkeys(works) if work not in entry.work]


def _mark_derived(entries: Sequence[StorageFacts]) -> None:
    for entry in entries:
        entry.derived = True
