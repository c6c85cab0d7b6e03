"""Opens a file in its temporary folder, and closes that one."""

import tempfile

import work


def add(x, y, alpha):
    with tempfile.TemporaryFile() as notes:
        notes.write(b"adding")
        return work.add(x, y, alpha)
