"""Ray actors, and the hand-out of cells to them."""
