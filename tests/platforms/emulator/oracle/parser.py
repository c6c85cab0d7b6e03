"""Reads the pseudo-code into nested tuples: statements ``(verb, …)`` and expressions ``(operator, …)``."""

from __future__ import annotations

import re
from typing import Any

Node = tuple[Any, ...]

_TOKEN = re.compile(
    r"""
    (?P<cast>\d+'[A-Z]{1,2}(?=\s*[\[(;]|\s*$|\s*\n))
  | (?P<sized>\d+'(?:0x[0-9a-f]+|\d+\.\d+|\d+)[UF]?)
  | (?P<number>0x[0-9a-f]+(?:ULL|LL|U)?|\d+\.\d+F?|\d+(?:ULL|LL|U)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<operator>\+:|<<|>>|<=|>=|==|!=|<>|&&|\|\||\*\*|\+=|-=|[-+*/<>=!~&|^?:;,.(){}\[\]])
  | (?P<space>\s+)
    """,
    re.VERBOSE,
)
_BINARY = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "<>"), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/"), ("**",),
)  # fmt: skip
_STATEMENTS_END = ("endif", "elsif", "else", "endfor", ")", None)


def tokens(text: str) -> list[tuple[str, str]]:
    """Split a text into ``(sort, text)``.

    Raises
    ------
    SyntaxError
        If something in it is none of the language.
    """
    text = re.sub(r"//[^\n]*", "", text)
    found, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise SyntaxError(f"not understood: {text[position : position + 40]!r}")
        position = match.end()
        if match.lastgroup != "space":
            found.append((str(match.lastgroup), match.group()))
    return found


class Parser:
    """A recursive descent through the tokens of one instruction."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._at = 0

    def parse(self) -> list[Node]:
        body = self._block()
        if self._peek() is not None:
            raise SyntaxError(f"left over: {self._tokens[self._at :][:8]}")
        return body

    def _peek(self, ahead: int = 0) -> str | None:
        place = self._at + ahead
        return self._tokens[place][1] if place < len(self._tokens) else None

    def _take(self, expected: str | None = None) -> str:
        token = self._peek()
        if token is None or (expected is not None and token != expected):
            raise SyntaxError(f"{expected!r} expected, not {token!r}")
        self._at += 1
        return token

    def _maybe(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _block(self) -> list[Node]:
        body: list[Node] = []
        while self._peek() not in _STATEMENTS_END:
            if not self._maybe(";"):
                body.append(self._statement())
        return body

    def _statement(self) -> Node:
        match self._peek():
            case "if":
                return self._if()
            case "for":
                return self._for()
            case "declare":
                return self._declare()
            case "return":
                self._take()
                return ("return", self.expression())
            case "break":
                self._take()
                return ("break",)
        targets = [self._postfix()]
        operator = self._take()
        if operator != "=":
            return ("set", targets, (operator[0], targets[0], self.expression()))
        if self._peek() == "lambda":
            return self._lambda(targets[0])
        value = self.expression()
        while self._maybe("="):
            targets.append(value)
            value = self.expression()
        return ("set", targets, value)

    def _if(self) -> Node:
        self._take()
        condition = self.expression()
        self._take("then")
        body = self._block()
        if self._peek() == "elsif":
            return ("if", condition, body, [self._if()])
        other = self._block() if self._maybe("else") else []
        self._take("endif")
        return ("if", condition, body, other)

    def _for(self) -> Node:
        self._take()
        name = self._take()
        self._take("in")
        first = self.expression()
        self._take(":")
        last = self.expression()
        self._take("do")
        body = self._block()
        self._take("endfor")
        return ("for", name, first, last, body)

    def _declare(self) -> Node:
        self._take()
        name = self._take()
        self._take(":")
        width, kind = self._take().split("'")
        count = None
        if self._maybe("["):
            count = int(self._take())
            self._take("]")
        return ("declare", name, kind.lower(), int(width), count)

    def _lambda(self, target: Node) -> Node:
        self._take("lambda")
        self._take("(")
        names = [self._take()]
        while self._maybe(","):
            names.append(self._take())
        self._take(")")
        self._take("(")
        statements = self._peek() in ("if", "declare")
        body = self._block() if statements else [("return", self.expression())]
        self._take(")")
        return ("lambda", target[1], names, body)

    def expression(self) -> Node:
        condition = self._binary(0)
        if not self._maybe("?"):
            return condition
        when = self.expression()
        self._take(":")
        return ("?", condition, when, self.expression())

    def _binary(self, level: int) -> Node:
        if level == len(_BINARY):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek() in _BINARY[level]:
            operator = self._take()
            left = (operator, left, self._binary(level + 1))
        return left

    def _unary(self) -> Node:
        if self._peek() in ("-", "+", "~", "!"):
            return ("unary", self._take(), self._unary())
        return self._postfix()

    def _postfix(self) -> Node:
        node = self._primary()
        while True:
            if self._maybe("."):
                node = ("as", node, self._take())
            elif self._maybe("["):
                first = self.expression()
                if self._maybe(":"):
                    node = ("slice", node, first, self.expression())
                elif self._maybe("+:"):
                    node = ("from", node, first, self.expression())
                else:
                    node = ("index", node, first)
                self._take("]")
            else:
                return node

    def _primary(self) -> Node:
        sort = self._tokens[self._at][0] if self._peek() is not None else ""
        token = self._take()
        if sort == "cast":
            width, kind = token.split("'")
            return ("cast", kind.lower(), int(width), self._arguments()[0])
        if sort in ("sized", "number"):
            return ("literal", token)
        if sort == "name":
            return ("call", token, self._arguments()) if self._peek() == "(" else ("name", token)
        if token == "(":
            node = self.expression()
            self._take(")")
            return node
        if token == "{":
            parts = [self.expression()]
            while self._maybe(","):
                parts.append(self.expression())
            self._take("}")
            return ("join", parts)
        raise SyntaxError(f"no expression begins with {token!r}")

    def _arguments(self) -> list[Node]:
        self._take("(")
        found = [self.expression()]
        while self._maybe(","):
            found.append(self.expression())
        self._take(")")
        return found
