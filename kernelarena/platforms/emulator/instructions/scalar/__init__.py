"""Scalar instructions, grouped as the ISA guide groups them; importing this enters all of them."""

from kernelarena.platforms.emulator.instructions.scalar import arithmetic, bits, compare, logic, select

__all__ = ["arithmetic", "bits", "compare", "logic", "select"]
