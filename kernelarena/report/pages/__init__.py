"""A page of tables, the same in a terminal, in markdown and in HTML."""

from kernelarena.report.pages.page import Page, Section

__all__ = ["Page", "Section"]
