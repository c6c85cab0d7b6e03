"""Runs the pseudo-code of one instruction on the operands of one lane."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from tests.platforms.emulator.oracle import functions
from tests.platforms.emulator.oracle.numbers import (
    Bits,
    add,
    divide,
    infinity,
    integer,
    multiply,
    nan,
    rounded,
    times_power,
    truth,
    widened,
)
from tests.platforms.emulator.oracle.parser import Node, Parser
from tests.platforms.emulator.oracle.text import text_of

_TYPE = re.compile(r"(bf|fp|[uifb])(\d+)")
_WIDE = 1024
"""Bits of a variable that is written piece by piece before it is ever written whole."""


class Denormal:
    """What ``DENORM`` stands for in ``x == DENORM.f32``: any denormal."""


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):
    pass


_CONSTANTS: dict[str, Any] = {
    "INF": infinity("f64"),
    "NAN": nan("f64"),
    "PI": functions.PI,
    "DENORM": Denormal(),
    "UNDERFLOW_F32": Bits("f", 32, 0),  # what is that small rounds to zero
    "UNDERFLOW_F64": Bits("f", 64, 0),
    "OVERFLOW_F32": infinity("f32"),
    "OVERFLOW_F64": infinity("f64"),
    "BYTE1": integer("u", 3, 1),
    "BYTE2": integer("u", 3, 2),
    "BYTE3": integer("u", 3, 3),
    "WORD1": integer("u", 3, 1),
    "ROUND_NEAREST_EVEN": "nearest",
    "ROUND_TOWARD_ZERO": "towards zero",
}


@cache
def _program(name: str) -> list[Node]:
    return Parser(text_of(name)).parse()


class Lane:
    """The state that the pseudo-code of one instruction sees.

    Parameters
    ----------
    target
        The chip, which decides what 8-bit numbers mean.
    variables
        Operands (``S0``, ``D0``, ``VCC``, …) and whatever else the text names.
    """

    def __init__(self, target: str, variables: Mapping[str, Any]) -> None:
        self.target = target
        self.variables: dict[str, Any] = {
            "WAVE_MODE.IEEE": truth(True), "ROUND_MODE": "nearest", "OPSEL": integer("u", 4, 0),
            "SDWA_SRC0_SEL": integer("u", 3, 0), "D0": Bits("b", 64, 0), "D1": Bits("b", 64, 0),
            "laneId": integer("u", 32, 0), "VCC": Bits("b", 64, 0), **variables,
        }  # fmt: skip

    def run(self, name: str) -> Lane:
        """Execute an instruction's pseudo-code."""
        self._block(_program(name))
        return self

    def _block(self, body: Sequence[Node]) -> None:
        for statement in body:
            getattr(self, f"_{statement[0]}")(*statement[1:])

    def _if(self, condition: Node, body: Sequence[Node], other: Sequence[Node]) -> None:
        self._block(body if self.value(condition).bits else other)

    def _for(self, name: str, first: Node, last: Node, body: Sequence[Node]) -> None:
        start = self.value(first)
        for number in range(start.integer, self.value(last).integer + 1):
            self.variables[name] = integer(start.kind, max(start.width, 32), number)
            try:
                self._block(body)
            except _Break:
                return

    def _declare(self, name: str, kind: str, width: int, count: int | None) -> None:
        zero = Bits(kind, width, 0)
        self.variables[name] = zero if count is None else [zero] * count

    def _lambda(self, name: str, parameters: Sequence[str], body: Sequence[Node]) -> None:
        self.variables[name] = (parameters, body)

    def _return(self, value: Node) -> None:
        raise _Return(self.value(value))

    def _break(self) -> None:
        raise _Break

    def _set(self, targets: Sequence[Node], value: Node) -> None:
        result = self.value(value)
        for target in targets:
            self._store(target, result)

    def _store(self, target: Node, value: Any) -> None:
        if target[0] == "join":
            offset = 0
            for part in reversed(target[1]):
                width = self._place(part)[2]
                self._store(part, Bits("b", width, value.bits >> offset))
                offset += width
            return
        if target[0] == "name" and target[1] != "D0":
            self.variables[target[1]] = value
            return
        if target[0] == "index" and isinstance(self.variables.get(target[1][1]), list):
            self.variables[target[1][1]][self.value(target[2]).integer] = value
            return
        name, offset, width, kind = self._place(target)
        if kind == "f" and value.floating and value.width != width:
            value = widened(value, f"f{width}")
        elif kind in ("u", "i", "b") and not value.floating:
            value = integer(kind, width, value.integer)
        before = self.variables.get(name)
        if before is None:
            before = Bits(kind, width, 0) if target[0] == "as" and target[1][0] == "name" else Bits("b", _WIDE, 0)
        mask = ((1 << width) - 1) << offset
        bits = before.bits & ~mask | (value.bits << offset) & mask
        if target[0] == "as" and target[1][0] == "name":
            bits = value.bits & ((1 << width) - 1)  # a register is written whole
        self.variables[name] = Bits(before.kind, before.width, bits)

    def _place(self, target: Node) -> tuple[str, int, int, str]:
        """Return the variable, the lowest bit, the number of bits and the kind of what is assigned to."""
        match target:
            case ("name", name):
                return name, 0, 64, "b"
            case ("as", base, kind):
                name, offset, _, _ = self._place(base)
                found = _TYPE.fullmatch(kind)
                return name, offset, int(found[2]), found[1]
            case ("index", base, place):
                name, offset, _, _ = self._place(base)
                return name, offset + self.value(place).integer, 1, "b"
            case ("slice", base, high, low):
                name, offset, _, _ = self._place(base)
                least = self.value(low).integer
                return name, offset + least, self.value(high).integer - least + 1, "b"
        raise SyntaxError(f"nothing to assign to: {target}")

    def value(self, node: Node) -> Any:
        """Evaluate an expression."""
        match node:
            case ("literal", text):
                return _literal(text)
            case ("name", name):
                return self.variables[name] if name in self.variables else _CONSTANTS[name]
            case ("as", base, kind):
                return self._as(base, kind)
            case ("index", base, place):
                whole, at = self.value(base), self.value(place).integer
                return whole[at] if isinstance(whole, list) else Bits("u", 1, whole.bits >> at & 1)
            case ("slice", base, high, low):
                return _slice(self.value(base), self.value(high).integer, self.value(low).integer)
            case ("from", base, low, width):
                at = self.value(low).integer
                return _slice(self.value(base), at + self.value(width).integer - 1, at)
            case ("join", parts):
                bits, width = 0, 0
                for part in map(self.value, parts):
                    bits, width = bits << part.width | part.bits, width + part.width
                return Bits("b", width, bits)
            case ("cast", kind, width, inner):
                return _cast(kind, width, self.value(inner), literal=inner[0] == "literal")
            case ("?", condition, when, otherwise):
                return self.value(when if self.value(condition).bits else otherwise)
            case ("unary", operator, inner):
                return _unary(operator, self.value(inner))
            case ("call", name, arguments):
                return self._call(name, [self.value(argument) for argument in arguments])
            case ("&&" | "||" as operator, left, right):
                first = bool(self.value(left).bits)
                decided = first if operator == "||" else not first
                return truth(first) if decided else truth(bool(self.value(right).bits))
            case ("==" | "!=" | "<>" | "<" | ">" | "<=" | ">=" as operator, left, right):
                signed_zero = right[0] == "unary" and right[2] == ("literal", "0.0")
                return truth(_compared(operator, self.value(left), self.value(right), signed_zero))
            case (operator, left, right):
                return _binary(operator, self.value(left), self.value(right))
        raise SyntaxError(f"not understood: {node}")

    def _as(self, base: Node, kind: str) -> Any:
        found = _TYPE.fullmatch(kind)
        if found is None:
            return self.variables[f"{base[1]}.{kind}"]
        whole = self.value(base)
        if isinstance(whole, Denormal):
            return whole
        sort, width = found[1], int(found[2])
        if whole.floating and sort == "f" and whole.width != width:
            return widened(whole, f"f{width}")
        if width <= 8:  # the function that is called says what they mean
            sort = "b" if sort in ("fp", "bf") else sort
        return Bits(sort, width, whole.bits & ((1 << width) - 1))

    def _call(self, name: str, arguments: list[Any]) -> Any:
        known = self.variables.get(name)
        if isinstance(known, tuple):
            parameters, body = known
            try:
                Lane._block(inner := Lane(self.target, dict(zip(parameters, arguments, strict=True))), body)
            except _Return as end:
                return end.value
            raise SyntaxError(f"{name} returned nothing: {inner.variables}")
        if hasattr(functions, name):
            return getattr(functions, name)(*arguments)
        if name.startswith("v_"):
            operands = {f"S{number}": argument for number, argument in enumerate(arguments)}
            result = Lane(self.target, operands).run(name).variables["D0"]
            kind, width = ("u", 32) if "sad" in name else _TYPE.findall(name)[-1]  # they add bytes to a word
            return Bits(kind, int(width), result.bits & ((1 << int(width)) - 1))
        conversion = re.fullmatch(r"([a-z]+\d+)_to_([a-z]+\d+)(_scale)?", name)
        if conversion is not None:
            zero = self.variables["ROUND_MODE"] == "towards zero"
            power = arguments[1].integer - 127 if conversion[3] else 0
            return functions.convert(
                arguments[0], conversion[1], conversion[2], self.target, towards_zero=zero, power=power
            )
        raise SyntaxError(f"{name} is not known")


def _literal(text: str) -> Bits:
    width, digits = text.split("'") if "'" in text else ("0", text)
    number = re.fullmatch(r"(0x[0-9a-f]+|[\d.]+)(ULL|LL|U|F)?", digits)
    suffix = number[2] or ""
    if "." in number[1]:
        return functions.parsed(number[1], f"f{width}" if int(width) else "f32" if suffix == "F" else "f64")
    size = int(width) or (64 if "LL" in suffix else 32)
    return integer("u" if "U" in suffix else "i", size, int(number[1], 0))


def _slice(whole: Bits, high: int, low: int) -> Bits:
    if high >= low:
        return Bits("b", high - low + 1, whole.bits >> low & ((1 << (high - low + 1)) - 1))
    forward = _slice(whole, low, high)
    return Bits("b", forward.width, int(f"{forward.bits:0{forward.width}b}"[::-1], 2))


def _cast(kind: str, width: int, value: Any, *, literal: bool) -> Any:
    if isinstance(value, functions.Power):
        return value
    if kind == "f":
        if value.floating:
            return widened(value, f"f{width}")
        if literal or value.kind == "b":  # a pattern of bits, not a number
            return Bits("f", width, value.bits)
        return rounded(functions.Fraction(value.integer), f"f{width}")
    return integer(kind, width, value.integer)


def _unary(operator: str, value: Bits) -> Bits:
    if operator == "+":
        return value
    if operator == "!":
        return truth(not value.bits)
    if operator == "~":
        return Bits(value.kind, value.width, ~value.bits & ((1 << value.width) - 1))
    if value.floating:
        return Bits(value.kind, value.width, value.bits ^ 1 << (value.width - 1))
    return integer(value.kind, max(value.width, 32), -value.integer)


def _compared(operator: str, left: Any, right: Any, signed_zero: bool) -> bool:
    if isinstance(right, Denormal):
        return left.denormal
    if signed_zero:  # the guide tells +0.0 from -0.0 by these
        return left.bits == right.bits
    a, b = (left.number, right.number) if left.floating else (left.integer, right.integer)
    if operator == "<>":
        return a < b or a > b
    return {"==": a == b, "!=": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[operator]


def _binary(operator: str, left: Any, right: Any) -> Any:
    if operator == "**":
        return functions.Power(right.integer)
    if isinstance(left, functions.Power):
        left, right = right, left
    if isinstance(right, functions.Power):
        return times_power(left, right.exponent)
    if left.floating:
        if operator in "+-":
            return add(left, right, minus=operator == "-")
        return multiply(left, right) if operator == "*" else divide(left, right)
    kind = "i" if left.kind == right.kind == "i" else "u"
    width = max(left.width, right.width, 32)
    a, b = left.integer, right.integer
    if operator in ("<<", ">>"):
        return integer(left.kind, max(left.width, 32), a << b if operator == "<<" else a >> b)
    result = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[operator]
    return integer(kind, width, result)
