"""Assembly text and what is in it."""

from kernelarena.platforms.emulator.assembly.module import Argument, KernelText, Module, parse_module
from kernelarena.platforms.emulator.assembly.operands import Constant, Operand, Register, Symbol
from kernelarena.platforms.emulator.assembly.statement import Place, Statement

__all__ = ["Argument", "Constant", "KernelText", "Module", "Operand", "Place", "Register", "Statement", "Symbol"]
__all__ += ["parse_module"]
