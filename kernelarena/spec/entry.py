"""Finding a kernel's entry in its sources without running them: ``kernel.py::softmax``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from kernelarena.errors import nearest, quoted

SUFFIXES = (".py", ".cu", ".hip", ".cpp")
"""Of files that may hold an entry."""
_DEVICE_DECORATORS = frozenset({"jit", "autotune", "heuristics"})


class EntryError(ValueError):
    """The entry is not in the sources; the message says what is there instead."""


class NoSuchFunction(EntryError):
    """The file is there and does not bind the function that is named.

    Parameters
    ----------
    file, function
        What was named.
    hint
        What there is instead.
    """

    def __init__(self, file: str, function: str, hint: str) -> None:
        super().__init__(f"{file} has no function {quoted(function)}; {hint}")
        self.file = file
        self.function = function


def resolve(entry: str, files: Mapping[str, str], *, default: str | None = None) -> tuple[str, str]:
    """Return the file and the function that ``entry`` names.

    Parameters
    ----------
    entry
        ``file.py::function``, ``function`` (where there is one file), or ``file.py`` (where one function is obvious).
    files
        Source text by relative path.
    default
        The function to prefer where none is named.

    Returns
    -------
    file : str
        A key of ``files``.
    function : str
        A name that the file binds at its top level, as far as its text tells: a file that does not parse, or that
        imports ``*``, is taken at its word.

    Raises
    ------
    EntryError
        If the file is not there, or leaves open which function is meant.
    NoSuchFunction
        If it does not bind the function.
    """
    file, separator, function = entry.partition("::")
    if not separator and file not in files and not file.endswith(SUFFIXES):
        file, function = _only_file(files), entry
    if file not in files:
        raise EntryError(f"no file {quoted(file)}; {nearest(file, files)}")
    if separator and not function:
        raise EntryError(f"{quoted(entry)} names no function after '::'")
    if function and not function.isidentifier():
        raise EntryError(f"{quoted(function)} is not the name of a function")
    names = _Names.of(files[file]) if file.endswith(".py") else _CppNames(files[file])
    if not function:
        return file, names.obvious(file, default)
    if not names.binds(function):
        raise NoSuchFunction(file, function, names.hint(function))
    return file, function


def _only_file(files: Mapping[str, str]) -> str:
    modules = [name for name in files if name.endswith(SUFFIXES)]
    if len(modules) == 1:
        return modules[0]
    if not modules:
        raise EntryError(f"there is no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file beside it")
    raise EntryError(f"which file? Write it as 'FILE::FUNCTION'; there are {', '.join(sorted(modules)[:10])}")


class _Names:
    """What a module binds at its top level."""

    def __init__(self, bound: set[str], host: list[str], certain: bool) -> None:
        self._bound = bound
        self._host = host
        self._certain = certain

    @classmethod
    def of(cls, source: str) -> _Names:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the compile gate's to report
            return cls(set(), [], certain=False)
        bound: set[str] = set()
        host: list[str] = []
        certain = True
        for node in _top_level(tree.body):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                bound.add(node.name)
                if not node.name.startswith("_") and not any(map(_is_device, node.decorator_list)):
                    host.append(node.name)
            elif isinstance(node, ast.ClassDef):
                bound.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                certain = certain and all(alias.name != "*" for alias in node.names)
                bound |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
            else:
                bound |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and _is_stored(name)}
        return cls(bound, list(dict.fromkeys(host)), certain)

    def binds(self, name: str) -> bool:
        return name in self._bound or not self._certain

    def hint(self, name: str) -> str:
        return nearest(name, self._host or self._bound)

    def obvious(self, file: str, default: str | None) -> str:
        if default is not None:
            default = default.replace("-", "_").replace(".", "_")
            if default in self._bound or (not self._host and not self._certain):
                return default
        if len(self._host) == 1:
            return self._host[0]
        has = f"it has {', '.join(self._host[:10])}" if self._host else "it has no public function"
        raise EntryError(f"which function of {file}? Write it as '{file}::FUNCTION'; {has}")


class _CppNames:
    """What a file in C++ seems to define; what its text means is for the compile gate to tell."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._exported: list[str] = list(dict.fromkeys(re.findall(r'extern\s+"C"[^;{(]*?\b(\w+)\s*\(', source)))

    def binds(self, name: str) -> bool:
        return re.search(rf"\b{re.escape(name)}\b", self._source) is not None

    def hint(self, name: str) -> str:
        return nearest(name, self._exported)

    def obvious(self, file: str, default: str | None) -> str:
        if default is not None and self.binds(default := default.replace("-", "_").replace(".", "_")):
            return default
        if len(self._exported) == 1:
            return self._exported[0]
        raise EntryError(f"which function of {file}? Write it as '{file}::FUNCTION'")


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run at import, also those inside ``if``, ``try``, ``with`` and loops."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _top_level(getattr(node, name, []))
        for handler in getattr(node, "handlers", []):
            yield from _top_level(handler.body)


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _is_device(decorator: ast.expr) -> bool:
    """Whether it makes a device function of what it decorates: ``@triton.jit``, ``@triton.autotune(…)``."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name in _DEVICE_DECORATORS
