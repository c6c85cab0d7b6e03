"""Floating-point arithmetic as the chips do it and NumPy does not: fused, narrow, exact to the last bit.

Rounding is to nearest, ties to even, unless a function's name says otherwise. What NumPy itself rounds correctly (sums,
products, quotients and square roots of one type) is left to it.
"""
