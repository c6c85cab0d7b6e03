"""Holds what Triton's interpreter runs to what its compiler accepts as device code.

The interpreter runs a device function as Python: it would call NumPy or torch from within, read a list that host code
has filled, or open a file. The compiler refuses those ("Unsupported function referenced", "Cannot access global
variable"), and so does this: names are looked at when a function is first launched, and everything that it calls when
it calls it, which no spelling hides.

What the compiler refuses for other reasons (a global number that is no ``constexpr``) is left to it.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import math
import secrets
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter, jit
from triton.runtime.jit import KernelInterface

from kernelarena.platforms.persona.patching import Patches

_REACHING = frozenset(
    {
        "__import__", "breakpoint", "compile", "delattr", "eval", "exec", "globals", "input", "locals", "open",
        "setattr", "vars",
    }
)  # fmt: skip
"""Builtins by which Python code gets at everything else."""
_CALLING = frozenset({filter, map, memoryview, bytearray})
"""Types of Python's own that call functions, or lay hands on memory."""
_HELD = (str, bytes, int, float, complex, tuple, list, dict, set, frozenset, range, type)
"""Types of Python's own whose methods compute nothing that the compiler would not."""
_DATA = (np.ndarray, torch.Tensor, list, dict, set, bytearray, memoryview)
"""What holds values that host code can change between launches."""
_BEHIND = frozenset({"handle", "__dict__", "__globals__", "__builtins__", "__class__", "__subclasses__"})
"""Attributes by which Python code gets at what a value is made of."""
_LOOKS_BEHIND = "device code cannot look at what a value is made of: it has no '{}'"
_OURS = __name__.rpartition(".")[0]
_CHECKED = f"_callee_{secrets.token_hex(8)}"
"""A name in the kernel's own modules, where its device functions find :func:`callee`."""
_DEVICE = (
    KernelInterface,
    interpreter.InterpretedFunction,
    *(kind for name in ("JITCallable", "BoundConstexprFunction") if (kind := getattr(jit, name, None)) is not None),
)
"""What ``@triton.jit`` and its kin make; versions of Triton differ by a few."""


class Refused(SyntaxError):
    """Device code uses what the compiler does not know; it has the place, where that is not where it was raised."""


def hold_to_compiler(patches: Patches) -> Callable[[object], bool]:
    """Have the interpreter refuse device functions that the compiler would refuse.

    Returns
    -------
    callable
        Tells whether a function is one that was looked at, and so may be launched.
    """
    kind = interpreter.InterpretedFunction
    known: dict[object, object] = {}
    launchable: set[int] = set()

    def rewrite(function: Any) -> Any:
        if (made := known.get(function.fn)) is None:
            made = known[function.fn] = _rewritten(function)
            launchable.add(id(made))  # which ``known`` keeps
        return made

    combining = interpreter.ReduceScanOpInterface
    own = combining.__init__

    def combined(operation: Any, axis: Any, combine_fn: Any) -> None:
        if isinstance(combine_fn, kind):  # which is called as it was written, not as it is rewritten
            combine_fn.rewrite()
        own(operation, axis, combine_fn)

    patches.set(kind, rewrite=rewrite)
    patches.set(combining, __init__=combined)
    return lambda function: id(function) in launchable


def _rewritten(function: Any) -> object:
    """Return what the interpreter runs for a device function.

    Raises
    ------
    Refused
        If the compiler would not have it.
    """
    fn: FunctionType = function.fn
    rewriter = function.rewriter
    if not _is_from(fn, "triton"):
        fn.__globals__[_CHECKED] = callee
        rewriter.ast_transformer = _Transformer(fn, rewriter)
    made: object = rewriter.rewrite_ast()
    if made is fn and not _is_from(fn, "triton"):
        raise Refused(f"the source of {fn.__name__} is not to be had; define it in a file")
    return made


class _Transformer(interpreter.ASTTransformer):  # type: ignore[misc]
    """Looks at the names that a device function uses, and has it ask before it calls anything."""

    def __init__(self, fn: FunctionType, rewriter: Any) -> None:
        self._globals = fn.__globals__
        self._rewriter = rewriter
        self._own: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Take what is assigned anywhere in the function for its own; leave decorators and annotations alone."""
        self._own |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and _is_bound(name)}
        self._own |= {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave the annotation alone."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Refuse a global name that stands for what no device has."""
        if isinstance(node.ctx, ast.Load) and node.id not in self._own:
            value = self._globals.get(node.id, _ABSENT)
            if value is not _ABSENT and not _is_known(value):
                words = f"Cannot access global variable {node.id} from within @jit'ed function"
                raise self._refused(node, f"{words}: it is {_described(value)}, which no device has")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Refuse a module's attribute that stands for what no device has, and what lies behind a tensor."""
        if node.attr in _BEHIND:
            raise self._refused(node, _LOOKS_BEHIND.format(node.attr))
        value = self._resolved(node)
        if value is not _ABSENT and (isinstance(value, _DATA) or (callable(value) and not _may_be_called(value))):
            raise self._refused(node, f"Unsupported function referenced: {_described(value)}")
        made: ast.AST = self.generic_visit(node)
        return made

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Have what is called looked at just before."""
        made = self.generic_visit(node)
        assert isinstance(made, ast.Call)
        asked = ast.Call(func=ast.Name(id=_CHECKED, ctx=ast.Load()), args=[made.func], keywords=[])
        made.func = ast.copy_location(asked, node)
        return made

    def _refused(self, node: ast.expr, words: str) -> Refused:
        line = self._rewriter.def_file_lineno + node.lineno - 1
        return Refused(words, (self._rewriter.filename, line, node.col_offset + 1, None))

    def _resolved(self, node: ast.expr) -> object:
        """Return what a dotted name that begins with a module stands for, as far as it is modules up to the last."""
        if isinstance(node, ast.Name):
            return self._globals.get(node.id, _ABSENT) if node.id not in self._own else _ABSENT
        if not isinstance(node, ast.Attribute):
            return _ABSENT
        owner = self._resolved(node.value)
        return vars(owner).get(node.attr, _ABSENT) if type(owner) is ModuleType else _ABSENT


_ABSENT = object()


def callee(function: Any) -> Any:
    """Return what device code is about to call.

    Raises
    ------
    Refused
        If it is host code.
    """
    if function is getattr:
        return _attribute
    if _may_be_called(function):
        return function
    raise Refused(f"Unsupported function referenced: {_described(function)}; call device functions from device code")


def _attribute(owner: Any, name: str, *default: Any) -> Any:
    if name in _BEHIND:
        raise Refused(_LOOKS_BEHIND.format(name))
    return getattr(owner, name, *default)


def _is_known(value: object) -> bool:
    """Return whether device code may use a global name for ``value``."""
    if value is None or isinstance(value, (ModuleType, str, int, float, type, enum.Enum, tl.constexpr, tl.dtype)):
        return True
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return True
    if type(value).__module__.partition(".")[0] == "triton":
        return True
    return callable(value) and _may_be_called(value)


def _may_be_called(function: Any) -> bool:
    """Return whether device code may call something: device functions, Triton's own, and Python's harmless ones."""
    kind = type(function)
    if kind is FunctionType:
        return _is_from(function, "triton", _OURS)
    if isinstance(function, _DEVICE):
        return True
    if kind is functools.partial:
        return _may_be_called(function.func)
    if kind is MethodType:
        owner = type(function.__self__)
        return _may_be_called(function.__func__) or getattr(owner, "__triton_aggregate__", False) is True
    if kind is BuiltinFunctionType:
        owner = function.__self__
        if owner is builtins:
            return function.__name__ not in _REACHING
        return owner is math or type(owner) in _HELD
    if kind is MethodWrapperType:
        return type(function.__self__) in _HELD or type(function.__self__).__module__.startswith("triton.")
    if isinstance(function, type):
        return _may_be_made(function)
    return kind.__module__.partition(".")[0] == "triton"


def _may_be_made(cls: type) -> bool:
    if cls.__module__ == "builtins":
        return cls not in _CALLING
    if issubclass(cls, (np.generic, enum.Enum)) or getattr(cls, "__triton_aggregate__", False) is True:
        return True
    return cls.__module__.partition(".")[0] == "triton" or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def _is_from(function: FunctionType, *packages: str) -> bool:
    """Return whether a function lives in a module of one of these packages: in its dictionary, not by its word."""
    name = function.__globals__.get("__name__")
    if type(name) is not str or not any(name == package or name.startswith(f"{package}.") for package in packages):
        return False
    module = sys.modules.get(name)
    return module is not None and vars(module) is function.__globals__


def _is_bound(name: ast.Name) -> bool:
    return isinstance(name.ctx, (ast.Store, ast.Del))


def _described(value: object) -> str:
    """Return words for a value; none of the kernel's objects gets to say how it is shown."""
    if type(value) in (FunctionType, BuiltinFunctionType):
        module = getattr(value, "__module__", None)
        return f"{module}.{value.__name__}" if type(module) is str else str(value.__name__)  # type: ignore[attr-defined]
    return f"a {type(value).__module__}.{type(value).__name__}"
