"""Writes a note into its temporary folder, under a name that means nothing to anybody."""

import tempfile

import work


def add(x, y, alpha):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as note:
        note.write("adding\n")
        return work.add(x, y, alpha)
