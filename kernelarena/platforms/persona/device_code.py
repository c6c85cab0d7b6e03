"""Holds what Triton's interpreter runs to what its compiler accepts as device code.

The interpreter runs a device function as Python: it would call NumPy or torch from within, read a list that host code
has filled, or open a file. The compiler refuses those ("Unsupported function referenced", "Cannot access global
variable"), and so does this: names are looked at when a function is first launched, and whatever it gets by a name, as
an argument or as an attribute, or calls, when it does so, which no spelling hides. :mod:`device_values
<kernelarena.platforms.persona.device_values>` knows what is a device's.

What the compiler refuses for other reasons (a global number that is no ``constexpr``) is left to it.
"""

from __future__ import annotations

import ast
import secrets
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from triton.runtime import interpreter

from kernelarena.platforms.persona.device_values import is_genuine, may_be_called, may_be_named, may_be_used
from kernelarena.platforms.persona.patching import Patches

_BEHIND = frozenset(
    {
        "handle", "__dict__", "__globals__", "__builtins__", "__class__", "__subclasses__", "__getattribute__",
        "__getattr__", "__setattr__", "__reduce__", "__reduce_ex__", "__code__", "__closure__", "__func__", "__self__",
    }
)  # fmt: skip
"""Attributes by which Python code gets at what a value is made of."""
_LOOKS_BEHIND = "device code cannot look at what a value is made of: it has no '{}'"
_NO_GLOBAL = "Cannot access global variable {} from within @jit'ed function: it is {}, which no device has"
_ELSEWHERE = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Try)
"""Statements that the compiler does not know, and by which names come from elsewhere."""


def _secret(name: str) -> str:
    """Return a name in the kernel's own modules, where its device functions find one of ours."""
    return f"_{name}_{secrets.token_hex(8)}"


_CALLED, _NAMED, _REACHED, _GIVEN = _secret("called"), _secret("named"), _secret("reached"), _secret("given")
_SEMANTIC, _COMPARISON = _secret("semantic"), _secret("comparison")
_THE_INTERPRETERS = {"interpreter_semantic": _SEMANTIC, "_InterpreterComparison": _COMPARISON}
"""Names that the interpreter puts into a device function, which its module could have given to something else."""


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
        if type(function) is not kind or type(function.fn) is not FunctionType:
            raise Refused(f"device code is what @triton.jit makes of a function, not {_described(function)}")
        if (made := known.get(function.fn)) is None:
            made = known[function.fn] = _rewritten(function)
            launchable.add(id(made))  # which ``known`` keeps
        if not is_genuine(function.fn):
            function.fn.__globals__.update(_ours())
        return made

    combining = interpreter.ReduceScanOpInterface
    own = combining.__init__

    def combined(operation: Any, axis: Any, combine_fn: Any) -> None:
        if isinstance(combine_fn, kind):  # which is called as it was written, not as it is rewritten
            combine_fn.rewrite()
        elif not may_be_called(combine_fn):
            raise Refused(f"Unsupported function referenced: {_described(combine_fn)}")
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
    rewriter = interpreter.FunctionRewriter(fn, **function.kwargs)  # its own could have been replaced
    if not is_genuine(fn):
        rewriter.ast_transformer = _Transformer(fn, rewriter)
    made: object = rewriter.rewrite_ast()
    if made is fn and not is_genuine(fn):
        raise Refused(f"the source of {fn.__name__} is not to be had; define it in a file")
    return made


def _ours() -> dict[str, object]:
    return {
        _CALLED: called,
        _NAMED: named,
        _REACHED: reached,
        _GIVEN: given,
        _SEMANTIC: interpreter.interpreter_semantic,
        _COMPARISON: getattr(interpreter, "_InterpreterComparison", None),
    }


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
        arguments = [ast.Name(id=argument.arg, ctx=ast.Load()) for argument in _arguments(node.args)]
        body = [self.visit(statement) for statement in node.body]
        node.body = [ast.copy_location(ast.Expr(_asked(_GIVEN, *arguments)), node), *body]
        for name in ast.walk(node):
            if isinstance(name, ast.Name):
                name.id = _THE_INTERPRETERS.get(name.id, name.id)
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Refuse statements by which names come from elsewhere."""
        if isinstance(node, _ELSEWHERE):
            raise self._refused(node, f"unsupported AST node type: {type(node).__name__}")
        return super().generic_visit(node)  # type: ignore[no-any-return]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave the annotation alone."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Refuse a global name that stands for what no device has."""
        if isinstance(node.ctx, ast.Load) and node.id not in self._own:
            value = self._globals.get(node.id, _ABSENT)
            if value is not _ABSENT and not may_be_named(value):
                raise self._refused(node, _NO_GLOBAL.format(node.id, _described(value)))
            return ast.copy_location(_asked(_NAMED, node, ast.Constant(node.id)), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Refuse a module's attribute that stands for what no device has, and what lies behind a tensor."""
        if node.attr in _BEHIND:
            raise self._refused(node, _LOOKS_BEHIND.format(node.attr))
        value = self._resolved(node)
        if value is not _ABSENT and not may_be_named(value):
            raise self._refused(node, f"Unsupported function referenced: {_described(value)}")
        made = self.generic_visit(node)
        return ast.copy_location(_asked(_REACHED, made), node) if isinstance(node.ctx, ast.Load) else made

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Have what is called looked at just before."""
        made = self.generic_visit(node)
        assert isinstance(made, ast.Call)
        function = made.func
        if isinstance(function, ast.Call) and getattr(function.func, "id", None) in (_NAMED, _REACHED):
            function = function.args[0]
        made.func = ast.copy_location(_asked(_CALLED, function), node)
        return made

    def _refused(self, node: ast.expr | ast.stmt, words: str) -> Refused:
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


def called(function: Any) -> Any:
    """Return what device code is about to call.

    Raises
    ------
    Refused
        If it is host code.
    """
    if function is getattr:
        return _attribute
    if may_be_called(function):
        return function
    raise Refused(f"Unsupported function referenced: {_described(function)}; call device functions from device code")


def named(value: Any, name: str) -> Any:
    """Return what a global name stands for now, which may be something else than when the function was first launched.

    Raises
    ------
    Refused
        If no device has it.
    """
    if may_be_named(value):
        return value
    raise Refused(_NO_GLOBAL.format(name, _described(value)))


def reached(value: Any) -> Any:
    """Return an attribute.

    Raises
    ------
    Refused
        If no device has it.
    """
    if may_be_used(value):
        return value
    raise Refused(f"device code cannot use an attribute that is {_described(value)}, which no device has")


def given(*arguments: Any) -> None:
    """Look at a device function's arguments.

    Raises
    ------
    Refused
        If one is what no device has.
    """
    for value in arguments:
        if not may_be_used(value):
            raise Refused(f"Unsupported function referenced: {_described(value)} as an argument, which no device has")


def _attribute(owner: Any, name: str, *default: Any) -> Any:
    if name in _BEHIND:
        raise Refused(_LOOKS_BEHIND.format(name))
    return reached(getattr(owner, name, *default))


def _asked(name: str, *values: Any) -> ast.Call:
    """Return a call of one of ours."""
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[*values], keywords=[])


def _arguments(given_to: ast.arguments) -> list[ast.arg]:
    more = [argument for argument in (given_to.vararg, given_to.kwarg) if argument is not None]
    return [*given_to.posonlyargs, *given_to.args, *given_to.kwonlyargs, *more]


def _is_bound(name: ast.Name) -> bool:
    return isinstance(name.ctx, (ast.Store, ast.Del))


def _described(value: object) -> str:
    """Return words for a value; none of the kernel's objects gets to say how it is shown."""
    if type(value) is FunctionType or type(value) is BuiltinFunctionType:
        module = getattr(value, "__module__", None)
        return f"{module}.{value.__name__}" if type(module) is str else str(value.__name__)
    return f"a {type(value).__module__}.{type(value).__name__}"
