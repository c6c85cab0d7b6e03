"""The entry of a C++ kernel: its signature, and the source that has the compiler check it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernelarena.platforms.toolchains.cpp.compiler import Compiler

EXPORTED = "ka_entry"
"""The name by which a library gives the entry away, so that none has to be declared in any way by its author."""
_NUMBERS = {bool: "bool", int: "int64_t", float: "double"}


@dataclass(frozen=True)
class Parameter:
    """One parameter: a tensor that is read or written, or a number.

    Attributes
    ----------
    name
        The task's.
    type
        In C.
    """

    name: str
    type: str


@dataclass(frozen=True)
class Signature:
    """What a task asks of an entry in C++: its inputs in order, its outputs in order, and the stream.

    Attributes
    ----------
    function
        The entry's name.
    parameters
        All of them.
    """

    function: str
    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        listed = ", ".join(_declared(parameter) for parameter in self.parameters)
        return f"int {self.function}({listed})"


def signature(function: str, inputs: Sequence[tuple[str, object]], outputs: int) -> Signature:
    """Return the signature of an entry.

    Parameters
    ----------
    function
        Its name.
    inputs
        Names, and None for a tensor or the value of a number.
    outputs
        How many tensors it writes.
    """
    taken = [Parameter(name, "const ka_tensor *" if value is None else _NUMBERS[type(value)]) for name, value in inputs]
    made = [Parameter("out" if outputs == 1 else f"out{index}", "ka_tensor *") for index in range(outputs)]
    return Signature(function, (*taken, *made, Parameter("stream", "ka_stream")))


def source(compiler: Compiler, wanted: Signature, file: str) -> str:
    """Return the translation unit that includes a kernel's file and calls its entry by a name that we know.

    An entry may return ``int``, the runtime's error type, or nothing. One of another form is refused by the compiler
    at a line of this text, and not of the kernel's.
    """
    types = ", ".join(parameter.type for parameter in wanted.parameters)
    numbered = [replace(parameter, name=f"ka_{index}") for index, parameter in enumerate(wanted.parameters)]
    named = ", ".join(map(_declared, numbered))  # by numbers: a task's names may mean something in C++
    passed = ", ".join(parameter.name for parameter in numbered)
    call = f"entry({passed})"
    return f"""{compiler.prelude}
#include <kernelarena.h>
#include "{file}"

static int ka_call(int (*entry)({types}), {named}) {{ return (int){call}; }}
static int ka_call({compiler.error_type} (*entry)({types}), {named}) {{ return (int){call}; }}
static int ka_call(void (*entry)({types}), {named}) {{ {call}; return 0; }}
extern "C" int {EXPORTED}({named}) {{ return ka_call(&{wanted.function}, {passed}); }}
"""


def _declared(parameter: Parameter) -> str:
    return f"{parameter.type}{'' if parameter.type.endswith('*') else ' '}{parameter.name}"
