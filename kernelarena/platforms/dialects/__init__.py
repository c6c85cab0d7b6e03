"""What source text says that not every chip understands, as tables: who has it, and what does the same elsewhere.

The rules of :mod:`kernelarena.portability` know how to look; what they look for is here, since it has vendors' names.
"""
