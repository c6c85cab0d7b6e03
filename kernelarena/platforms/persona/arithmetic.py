"""Mends the arithmetic of Triton's interpreter, so that a wrong answer under it is the kernel's own.

The interpreter keeps bfloat16 and float8 values as integers of their width. Loads, stores and moves are right that way;
sums, products, comparisons, reductions, scans, ``tl.dot`` and most casts are not: they compute with the bits. Its
conversion to float8 loses the carry of a mantissa that rounds up, and its conversion to bfloat16 truncates. Here such
operands are widened to float32 before an operation and the result is rounded back after it, which is what chips without
instructions for the narrow type do, and within one rounding of those that have them.

``libdevice`` functions have no body under the interpreter; the common ones get one from NumPy. Atomic sums in a narrow
type, which it refuses, are made one after the other. And a Python float given to a kernel is a float32 scalar there, as
it is in a compiled launch: it has a type to ask for, and takes part in promotion.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from kernelarena.platforms.persona.narrow_floats import FORMATS
from kernelarena.platforms.persona.patching import Patches

_ARITHMETIC = (
    "fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "precise_divf", "approx_divf", "fma", "clampf",
    "minimumf", "minnumf", "maximumf", "maxnumf",
    *(f"fcmp{order}{name}" for order in "OU" for name in ("LT", "GT", "LE", "GE", "EQ", "NE")),
    "cos", "sin", "exp", "exp2", "log", "log2", "sqrt", "precise_sqrt", "rsqrt", "erf", "floor", "ceil", "dot",
)  # fmt: skip
"""Operations of the interpreter's builder that compute with their operands' values."""

_CASTS = ("si_to_fp", "ui_to_fp", "fp_to_si", "fp_to_ui", "fp_ext", "fp_trunc")


@contextlib.contextmanager
def mended_arithmetic() -> Iterator[None]:
    """Have Triton's interpreter compute with bfloat16, float8 and ``libdevice`` as chips do."""
    builder = interpreter.InterpreterBuilder
    with Patches() as patches:
        for name in _ARITHMETIC:
            if (own := getattr(builder, f"create_{name}", None)) is not None:  # versions differ by a few
                patches.set(builder, **{f"create_{name}": _widening(own, kept=2 if name == "dot" else None)})
        for name in _CASTS:
            patches.set(builder, **{f"create_{name}": _cast_of(getattr(builder, f"create_{name}"))})
        patches.set(builder, create_fp_to_fp=_cast_of(builder.create_fp_to_fp))
        patches.set(builder, create_extern_elementwise=_extern_elementwise)
        patches.set(builder, create_atomic_rmw=_atomic_of(builder.create_atomic_rmw))
        reduce, scan = interpreter.ReduceOps, interpreter.ScanOps
        patches.set(reduce, sum=_sum_of(reduce.sum), min_max=_extreme_of(reduce.min_max))
        patches.set(scan, cumsum=_scan_of(scan.cumsum, np.add), cumprod=_scan_of(scan.cumprod, np.multiply))
        patches.set(interpreter, _implicit_cvt=_argument_of(interpreter._implicit_cvt))
        patches.set(interpreter, _patch_lang_core=_knowing_narrow_floats(interpreter._patch_lang_core))
        patches.set(interpreter, _patch_lang_tensor=_indexable(interpreter._patch_lang_tensor))
        _give_libdevice_bodies(patches)
        yield


def _is_narrow(value: Any) -> bool:
    return isinstance(value, interpreter.TensorHandle) and value.dtype.scalar.name in FORMATS


def _widened(value: Any) -> Any:
    """Return a narrow operand as float32; anything else as it is."""
    if not _is_narrow(value):
        return value
    return interpreter.TensorHandle(FORMATS[value.dtype.scalar.name].decode(value.data), tl.float32)


def _widening(own: Callable[..., Any], kept: int | None) -> Callable[..., Any]:
    """Wrap an operation so that it sees float32 in place of narrow operands, and round its result back.

    The result has the type of the operand ``kept`` (the accumulator of a dot), else of the narrow ones.
    """

    def operation(builder: Any, *operands: Any) -> Any:
        narrow = [operand for operand in operands if _is_narrow(operand)]
        if not narrow:
            return own(builder, *operands)
        result = own(builder, *(_widened(operand) for operand in operands))
        if result.data.dtype == np.bool_:
            return interpreter.TensorHandle(result.data, narrow[0].dtype.scalar)  # a comparison: as the original does
        like = narrow[0] if kept is None else operands[kept]
        if not _is_narrow(like):
            return result
        scalar = like.dtype.scalar
        return interpreter.TensorHandle(FORMATS[scalar.name].encode(result.data), scalar)

    return operation


def _cast_of(own: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a cast so that it goes by value where either side is a narrow float."""

    def cast(builder: Any, source: Any, target_type: Any, rounding: Any = None) -> Any:
        target = target_type.scalar
        if not _is_narrow(source) and target.name not in FORMATS:
            return (
                own(builder, source, target_type) if rounding is None else own(builder, source, target_type, rounding)
            )
        values = _widened(source).data
        if target.name in FORMATS:
            towards_zero = rounding is not None and "RTZ" in str(rounding)
            data = FORMATS[target.name].encode(values, towards_zero=towards_zero)
        else:
            data = values.astype(interpreter._get_np_dtype(target))
        return interpreter.TensorHandle(data, target)

    return cast


def _sum_of(own: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``tl.sum`` so that narrow values are added in pairs and rounded at each step, as a tree of lanes does."""

    def total(reduction: Any, tensor: Any) -> Any:
        if not _is_narrow(tensor.handle):
            return own(reduction, tensor)
        narrow, axis = FORMATS[tensor.dtype.scalar.name], reduction.axis
        values = _widened(tensor.handle).data
        values = values.reshape(-1) if axis is None else np.moveaxis(values, axis, -1)
        while (half := values.shape[-1] // 2) > 0:  # a block's sizes are powers of two
            values = narrow.decode(narrow.encode(values[..., :half] + values[..., half:]))
        data = narrow.encode(values[..., 0])
        if reduction.keep_dims:
            data = data.reshape((1,) * len(tensor.shape)) if axis is None else np.expand_dims(data, axis)
        return reduction.to_tensor(data, tensor.dtype)

    return total


def _extreme_of(own: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``tl.max`` and its kin so that narrow values are compared as numbers."""

    def extreme(reduction: Any, tensor: Any, *options: Any, **named: Any) -> Any:
        tensor = tensor[0] if isinstance(tensor, tuple) else tensor
        if not _is_narrow(tensor.handle):
            return own(reduction, tensor, *options, **named)
        found = own(reduction, _wide_tensor(tensor), *options, **named)
        narrow = FORMATS[tensor.dtype.scalar.name]

        def back(result: Any) -> Any:
            if result.dtype.scalar != tl.float32:
                return result  # indices
            return reduction.to_tensor(narrow.encode(result.handle.data).reshape(result.shape), tensor.dtype)

        return tuple(map(back, found)) if isinstance(found, tuple) else back(found)

    return extreme


def _scan_of(own: Callable[..., Any], combine: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a scan so that narrow values are combined over doubling distances and rounded at each step."""

    def scanned(scan: Any, tensor: Any) -> Any:
        if not _is_narrow(tensor.handle):
            return own(scan, tensor)
        narrow = FORMATS[tensor.dtype.scalar.name]
        values = np.moveaxis(_widened(tensor.handle).data, scan.axis, -1)
        distance = 1
        while distance < values.shape[-1]:
            later = narrow.decode(narrow.encode(combine(values[..., distance:], values[..., :-distance])))
            values = np.concatenate((values[..., :distance], later), axis=-1)
            distance *= 2
        return [scan.to_tensor(np.moveaxis(narrow.encode(values), -1, scan.axis), tensor.dtype)]

    return scanned


def _wide_tensor(tensor: Any) -> Any:
    """Return a narrow tensor as one of float32."""
    kind = tl.block_type(tl.float32, list(tensor.shape)) if tensor.type.is_block() else tl.float32
    return tl.tensor(_widened(tensor.handle), kind)


def _atomic_of(own: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap atomic operations so that sums in a narrow type go by value."""

    def atomic(builder: Any, kind: Any, pointers: Any, values: Any, mask: Any, *rest: Any) -> Any:
        if not _is_narrow(values) or kind != interpreter._ir.ATOMIC_OP.FADD:
            return own(builder, kind, pointers, values, mask, *rest)
        scalar = values.dtype.scalar
        narrow = FORMATS[scalar.name]
        found = np.zeros(values.data.shape, dtype=values.data.dtype)
        turns = np.where(mask.data, _turns(pointers.data), -1)
        for turn in range(int(turns.max(initial=-1)) + 1):
            now = turns == turn
            before = interpreter._interpreter.load(pointers.data, now, found, found.dtype)
            after = narrow.encode(narrow.decode(before) + narrow.decode(values.data))
            interpreter._interpreter.store(pointers.data, after, now)
            found = np.where(now, before, found)
        return interpreter.TensorHandle(found, scalar)

    return atomic


def _turns(addresses: Any) -> Any:
    """Return, for each address, how many equal ones come before it: those of one turn are all different."""
    flat = addresses.ravel()
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    turns = np.empty(flat.size, dtype=np.int64)
    turns[order] = np.arange(flat.size) - np.searchsorted(ordered, ordered)
    return turns.reshape(addresses.shape)


def _argument_of(own: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the conversion of launch arguments, which leaves floats as Python has them."""

    def argument(value: Any) -> Any:
        if isinstance(value, float):
            return tl.tensor(interpreter.TensorHandle(np.array([value], dtype=np.float32), tl.float32), tl.float32)
        return own(value)

    return argument


def _knowing_narrow_floats(own: Callable[..., Any]) -> Callable[..., Any]:
    """Let every float8 type be named: older interpreters build all of them, and know the names of some."""

    def patch(lang: Any, scope: Any) -> Any:
        own(lang, scope)
        known = lang.dtype.to_ir

        def to_ir(dtype: Any, builder: Any) -> Any:
            build = getattr(builder, f"get_{dtype.name}_ty", None) if dtype.name.startswith("fp8") else None
            return known(dtype, builder) if build is None else build()

        scope.set_attr(lang.dtype, "to_ir", to_ir)

    return patch


def _indexable(own: Callable[..., Any]) -> Callable[..., Any]:
    """Let a scalar be an index: older interpreters convert arrays of one element in a way that NumPy 2.5 refuses."""

    def patch(tensor: Any, scope: Any) -> Any:
        own(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda scalar: int(scalar.handle.data.item()))

    return patch


def _per_element(function: Callable[..., float]) -> Callable[..., Any]:
    return np.vectorize(function, otypes=[np.float64])


def _half_away(values: Any) -> Any:
    """Round to the nearest whole number, halves away from zero."""
    return np.copysign(np.floor(np.abs(values) + 0.5), values)


def _reciprocal_root(values: Any) -> Any:
    return 1 / np.sqrt(values)


# Functions of this module or NumPy's, no lambdas: what a body holds has to be found in its module to be ours.
_LIBDEVICE: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "fabs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "nearbyint": np.rint, "round": _half_away,
    "sqrt": np.sqrt, "rsqrt": _reciprocal_root, "cbrt": np.cbrt, "hypot": np.hypot, "pow": np.power,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "fmod": np.fmod, "copysign": np.copysign,
    "fast_expf": np.exp, "fast_logf": np.log, "fast_log2f": np.log2, "fast_sinf": np.sin, "fast_cosf": np.cos,
    "fast_tanf": np.tan, "fast_powf": np.power, "fast_dividef": np.divide, "fast_tanhf": np.tanh,
    "div_rn": np.divide, "isnan": np.isnan, "isinf": np.isinf, "finitef": np.isfinite, "signbit": np.signbit,
    "erf": _per_element(math.erf), "erfc": _per_element(math.erfc), "lgamma": _per_element(math.lgamma),
    "tgamma": _per_element(math.gamma),
}  # fmt: skip
_PREDICATES = frozenset({"isnan", "isinf", "finitef", "signbit"})  # they return int32


def _give_libdevice_bodies(patches: Patches) -> None:
    import triton.language.extra.libdevice as generic

    modules = [generic]
    with contextlib.suppress(ImportError):  # kernels also import a vendor's module by name
        from triton.language.extra.cuda import libdevice as of_one

        modules.append(of_one)
    with contextlib.suppress(ImportError):
        from triton.language.extra.hip import libdevice as of_other

        modules.append(of_other)
    for module in modules:
        patches.update(
            module, {name: _body(name, function) for name, function in _LIBDEVICE.items() if hasattr(module, name)}
        )


def _body(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def libdevice(*arguments: Any, **_: Any) -> Any:
        given = [tl.core._unwrap_if_constexpr(argument) for argument in arguments]
        tensors = [_widened(item.handle) for item in given if isinstance(item, tl.tensor)]
        values = [_widened(item.handle).data if isinstance(item, tl.tensor) else item for item in given]
        with np.errstate(all="ignore"):
            data = function(*values)
        scalar = tl.int32 if name in _PREDICATES else tensors[0].dtype.scalar
        data = np.asarray(data, dtype=interpreter._get_np_dtype(scalar))
        # A scalar's handle holds an array of one element, so that only the types tell a scalar from a block.
        blocks = any(isinstance(item, tl.tensor) and item.type.is_block() for item in given)
        kind = tl.block_type(scalar, list(data.shape)) if blocks else scalar
        return tl.tensor(interpreter.TensorHandle(data, scalar), kind)

    libdevice.__name__ = name
    return libdevice


def _extern_elementwise(builder: Any, library: str, path: str, symbol: str, *_: Any) -> Any:
    raise NotImplementedError(f"the interpreter has no '{symbol}' of {library or 'libdevice'}")
