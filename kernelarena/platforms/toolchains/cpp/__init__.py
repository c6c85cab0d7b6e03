"""Compilers of C++ kernels behind one interface: which one a host has, how it is called, what it says of a binary."""

from __future__ import annotations

from kernelarena.platforms.toolchains.cpp.compiler import Compiler, Missing
from kernelarena.platforms.toolchains.cpp.finding import described, find, identity

__all__ = ["Compiler", "Missing", "described", "find", "identity"]
