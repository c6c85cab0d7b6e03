"""Reading a YAML file into a model, with errors that name the file, the line and the key."""

from __future__ import annotations

import datetime
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from kernelarena.errors import InputError, nearest
from kernelarena.spec import textfile
from kernelarena.spec.base import NAME
from kernelarena.spec.plaindata import flaw, leaves

M = TypeVar("M", bound=BaseModel)


MAX_BYTES = 4 << 20
"""Of a file: larger ones are not written by hand, and take minutes to parse."""
_SHOWN = 6
"""Parts of a key that messages name."""


class _Loader(yaml.SafeLoader):
    """YAML 1.2's idea of a number (``5.3e12`` is one), no silently overwritten keys, and no aliases.

    A few lines of nested aliases stand for more data than fits in memory, and nothing here needs them.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key must be plain text", problem_mark=key.start_mark)
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"key '{key.value}' is given twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError, OverflowError) as error:  # a date of month 13, an integer of 5,000 digits
            raise yaml.MarkedYAMLError(problem=str(error).split(":")[0], problem_mark=node.start_mark) from None


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:float"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)$|^[-+]?[0-9]*\.[0-9]+$|^[-+]?[0-9]+\.$"),
    list("-+0123456789."),
)


class Document:
    """A YAML file that has been parsed: it can be held against a model, and says where each of its keys stands.

    Parameters
    ----------
    path
        The file; also what messages call it.
    text
        The content, where it has been read already.

    Raises
    ------
    InputError
        If the file cannot be read, is not YAML, or is not a mapping.
    """

    def __init__(self, path: Path, *, text: str | None = None) -> None:
        self.path = path
        text = textfile.read(path, limit=MAX_BYTES) if text is None else text
        self._node, self._data = self._parsed(text)
        if (found := flaw(self._data)) is not None:
            raise self.error(*found)

    def fit(self, model: type[M]) -> M:
        """Return the content as a ``model``.

        Raises
        ------
        InputError
            If it has an unknown key or a value that does not fit: a line for each.
        """
        try:
            return fit(self._data, model)
        except Unfit as unfit:
            found = sorted((*self.find(place), number) for number, (place, _) in enumerate(unfit.mistakes))
            raise InputError(*(self.located(*unfit.mistakes[number]) for _, _, number in found)) from None

    def problem(self, key: tuple[Any, ...] | str, message: str) -> str:
        """Return the line that says what is wrong with a key: ``platforms/x.yaml:3: arch: …``."""
        place = (key,) if isinstance(key, str) else key
        name = ".".join(map(str, place[:_SHOWN])) + (" …" if len(place) > _SHOWN else "")
        return self.located(place, f"{name}{': ' if name else ''}{message}")

    def located(self, place: tuple[Any, ...], text: str) -> str:
        """Return a line that says where a key stands, and then something."""
        path, line = self.find(place)
        return f"{path}:{line}: {text}"

    def find(self, place: tuple[Any, ...]) -> tuple[Path, int]:
        """Return the file, and the line (from 1) in it, of the deepest part of a key that there is."""
        return self.path, self.deepest(place)[1]

    def deepest(self, place: tuple[Any, ...]) -> tuple[int, int]:
        """Return how many parts of a key the file has, and the line (from 1) of the last of them."""
        return _deepest(self._node, place)

    @property
    def data(self) -> dict[Any, Any]:
        """What the file says."""
        return self._data

    def error(self, key: tuple[Any, ...] | str, message: str) -> InputError:
        """Return the error that says what is wrong with a key."""
        return InputError(self.problem(key, message))

    def _parsed(self, text: str) -> tuple[yaml.Node, dict[Any, Any]]:
        try:
            loader = _Loader(text)
            try:
                node = loader.get_single_node()
                data = loader.construct_document(node) if node is not None else None
            finally:
                loader.dispose()
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f":{mark.line + 1}" if mark is not None else ""
            problem = getattr(error, "problem", None) or str(error)
            raise InputError(f"{self.path}{where}: not valid YAML: {' '.join(problem.split())}") from None
        except RecursionError:
            raise InputError(f"{self.path}: not valid YAML: nested too deeply") from None
        if node is None or not isinstance(data, dict):
            got = "nothing" if data is None else type(data).__name__
            raise InputError(f"{self.path}: expected a mapping of keys, got {got}")
        return node, data


def read(path: Path, model: type[M], *, text: str | None = None) -> M:
    """Read ``path`` as a ``model``.

    Parameters
    ----------
    path
        The file; also what messages call it.
    model
        The pydantic model that it must fit.
    text
        The content, where it has been read already.

    Returns
    -------
    BaseModel
        An instance of ``model``.

    Raises
    ------
    InputError
        If the file cannot be read, is not YAML, has an unknown key or a value of a wrong type. A line for each:
        ``platforms/x.yaml:12: limits.warp_size: expected an integer, got 'wide'``.
    """
    return Document(path, text=text).fit(model)


class Unfit(Exception):
    """Data is not what a model is made of; ``mistakes`` holds where, and why in words that name the key."""

    def __init__(self, mistakes: list[tuple[tuple[Any, ...], str]]) -> None:
        super().__init__(mistakes)
        self.mistakes = mistakes


def fit(data: dict[Any, Any], model: type[M]) -> M:
    """Return what a parser found as a ``model``.

    Raises
    ------
    Unfit
        If it has an unknown key or a value that does not fit.
    """
    try:
        fitting = model.model_validate(data)
    except ValidationError as error:
        raise Unfit([(each["loc"], _described(each, model)) for each in error.errors()]) from None
    counted = [place for place, value in leaves(data) if isinstance(value, bool) and _is_number(fitting, place)]
    if counted:  # YAML's yes and on, which count as 1
        raise Unfit(
            [(place, f"{'.'.join(map(str, place))}: expected a number, got a truth value") for place in counted]
        )
    return fitting


def _is_number(value: Any, place: tuple[Any, ...]) -> bool:
    """Whether a model has a number at a place of the data that it was made of."""
    for part in place:
        try:
            value = value[part] if isinstance(value, (dict, tuple, list)) else getattr(value, part)
        except (AttributeError, LookupError, TypeError):  # a model may be laid out otherwise than its data
            return False
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _described(error: Any, model: type[BaseModel]) -> str:
    """Put one of pydantic's errors into plain words, with the key first."""
    key = ".".join(str(part) for part in error["loc"])
    prefix = f"{key}: " if key else ""
    given = repr(error["input"])
    given = given if len(given) <= 60 else given[:57] + "..."
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"{prefix}unknown key; {nearest(str(error['loc'][-1]), _fields_at(model, error['loc'][:-1]))}"
    if kind in ("too_short", "string_too_short") and error["ctx"]["min_length"] == 1:
        return f"{prefix}may not be empty"
    if kind == "missing":
        return f"{prefix}this key is required"
    if kind == "value_error":
        return f"{prefix}{error['ctx']['error']}"
    if kind == "string_pattern_mismatch" and error["ctx"]["pattern"] == NAME:
        return f"{prefix}a name of letters, digits and _.+- that starts with a letter or a digit is wanted, got {given}"
    if kind == "string_type" and isinstance(error["input"], (int, float, datetime.date)):
        return f"{prefix}expected a string, got {given}; put it in quotes"
    if kind in ("tuple_type", "list_type") and isinstance(error["input"], str):
        return f"{prefix}expected a list, got {given}; put it in brackets"
    message = error["msg"][0].lower() + error["msg"][1:]
    message = re.sub(r"^input should be (a )?(valid )?", "expected ", message)
    message = re.sub(r"^expected (integer|string|number|boolean|dictionary|list|tuple)", _with_article, message)
    return f"{prefix}{message.split(', unable to')[0]}, got {given}"


def _with_article(match: re.Match[str]) -> str:
    word = {"dictionary": "mapping", "tuple": "list"}.get(match[1], match[1])
    return f"expected {'an' if word[0] in 'aeiou' else 'a'} {word}"


def _fields_at(model: Any, loc: tuple[Any, ...]) -> list[str]:
    """Names of the keys allowed at ``loc``, as far as the annotations tell."""
    for part in loc:
        field = model.model_fields.get(part) if hasattr(model, "model_fields") else None
        if field is None:
            continue
        found = _model_in(field.annotation)
        if found is not None:
            model = found
    return list(model.model_fields)


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if (found := _model_in(argument)) is not None:
            return found
    return None


def _deepest(node: yaml.Node, loc: tuple[Any, ...]) -> tuple[int, int]:
    """Return how many parts of ``loc`` the document has, and the line (from 1) of the last of them."""
    line: int = node.start_mark.line
    for depth, part in enumerate(loc):
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    line, node = key.start_mark.line, value
                    break
            else:
                return depth, line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
        else:
            return depth, line + 1
    return len(loc), line + 1


class _Dumper(yaml.SafeDumper):
    """Quotes every text that ``read`` would take for a number: ``1e5`` is one to us, and a text to YAML 1.1."""


_Dumper.yaml_implicit_resolvers = {
    first: [*yaml.SafeDumper.yaml_implicit_resolvers.get(first, []), *_Loader.yaml_implicit_resolvers.get(first, [])]
    for first in {*yaml.SafeDumper.yaml_implicit_resolvers, *_Loader.yaml_implicit_resolvers}
}


def dump(model: BaseModel) -> str:
    """Return ``model`` as YAML text that ``read`` turns into an equal one, keys in the order of the declaration."""
    data = model.model_dump(mode="json")
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text
