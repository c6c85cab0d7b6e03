"""Kernel Arena: a portability harness that judges generated GPU kernels on every chip, and says how it knows."""

__version__ = "0.1.0"
