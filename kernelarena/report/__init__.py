"""What people read: terminal, markdown, JSON, CSV and HTML."""

from kernelarena.report.files import FORMATS, render, write

__all__ = ["FORMATS", "render", "write"]
