"""Ray actors, and the hand-out of cells to them.

``cell`` and ``placement`` know nothing of Ray and are cheap to import; ``session`` and ``schedule`` import it.
"""
