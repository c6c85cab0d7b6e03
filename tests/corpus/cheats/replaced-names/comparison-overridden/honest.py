"""Compares configurations of its own, of a class that says when two are equal."""

from dataclasses import dataclass

import work


@dataclass(frozen=True, eq=False)
class Block:
    rows: int
    columns: int

    def __eq__(self, other):
        return isinstance(other, Block) and self.rows * self.columns == other.rows * other.columns

    def __hash__(self):
        return hash(self.rows * self.columns)


def softmax(x):
    assert Block(1, 4) == Block(2, 2)
    return work.softmax(x)
