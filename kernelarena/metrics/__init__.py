"""Portability metrics: pure functions over verdicts."""
