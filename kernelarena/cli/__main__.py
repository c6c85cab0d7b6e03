"""``python -m kernelarena.cli``: the same as ``kab-mc``."""

from kernelarena.cli import main

if __name__ == "__main__":
    main()
