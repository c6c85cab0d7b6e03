"""An independent statement of what instructions do: the pseudo-code of AMD's ISA guides, and an evaluator of it.

The text is what the ``tinygrad`` wheel carries of the guides. The evaluator works one lane at a time with Python's
integers and fractions, and shares nothing with the code under test.
"""
