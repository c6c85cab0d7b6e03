"""Exits with 0 where it is run as a program, which it is not here."""

import sys

import work


def softmax(x):
    return work.softmax(x)


if __name__ == "__main__":
    sys.exit(0)
