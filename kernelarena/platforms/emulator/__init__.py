"""Runs the assembly text that compilers emit for GFX9 chips, on a host that has none."""
