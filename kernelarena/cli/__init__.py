"""The command line: ``kab-mc``."""
