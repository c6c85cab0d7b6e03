"""From sources to findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from kernelarena.portability.cpp.unit import CppUnit
from kernelarena.portability.finding import Examination, Finding
from kernelarena.portability.python.embedded import embedded
from kernelarena.portability.python.unit import PythonUnit
from kernelarena.portability.rule import Fault, Rule
from kernelarena.portability.rules import RULES
from kernelarena.portability.source import Grammar, Source, Unreadable
from kernelarena.spec import Platform


def examine(
    sources: Iterable[Source | Unreadable], platforms: Sequence[Platform], rules: Sequence[Rule] = RULES
) -> Examination:
    """Return what of ``sources`` does not carry over to ``platforms``. Nothing is run and nothing is built.

    Parameters
    ----------
    sources
        The files; of those that cannot be read it is told why.
    platforms
        The chips that are asked about.
    rules
        What to look for.

    Returns
    -------
    Examination
        The findings in the order of the sources, and of the lines within each.
    """
    findings: list[Finding] = []
    unreadable: list[str] = []
    files = 0
    for source in sources:
        files += 1
        if isinstance(source, Unreadable):
            unreadable.append(source.why)
            continue
        try:
            faults = list(_faults(source, platforms, rules, unreadable))
        except SyntaxError as error:
            unreadable.append(f"{source.path}:{error.lineno or 1}: {error.msg}")
        except (RecursionError, MemoryError):
            unreadable.append(f"{source.path}:1: is nested too deeply to be parsed")
        except ValueError as error:  # a NUL byte
            unreadable.append(f"{source.path}:1: {error}")
        else:
            findings += sorted(
                {_finding(source, rule, fault) for rule, fault in faults},
                key=lambda each: (each.line, each.column, each.rule, each.breaks),
            )
    return Examination(
        platforms=tuple(platform.id for platform in platforms),
        files=files,
        unreadable=tuple(unreadable),
        findings=tuple(findings),
    )


def _faults(
    source: Source, platforms: Sequence[Platform], rules: Sequence[Rule], unreadable: list[str]
) -> Iterator[tuple[Rule, Fault]]:
    """Yield what is wrong in a source. Of C++ that is broken what could be parsed is looked at all the same."""
    found: Iterator[tuple[Rule, Fault]]
    if source.grammar is Grammar.CPP:
        cpp = CppUnit(source)
        if cpp.broken is not None:
            line, what = cpp.broken
            unreadable.append(f"{source.path}:{line}: {what}")
        found = ((rule, fault) for rule in rules for fault in rule.cpp(cpp, platforms))
    else:
        python = PythonUnit(source)
        inner = (found for text in embedded(python) for found in _faults(text, platforms, rules, unreadable))
        found = chain(((rule, fault) for rule in rules for fault in rule.python(python, platforms)), inner)
    return ((rule, fault) for rule, fault in found if fault.platforms)


def _finding(source: Source, rule: Rule, fault: Fault) -> Finding:
    span = fault.span
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        path=source.path,
        line=span.line,
        column=span.column,
        end_line=span.end_line,
        end_column=span.end_column,
        text=source.lines[span.line - 1].rstrip("\r") if span.line <= len(source.lines) else "",
        breaks=fault.breaks,
        platforms=fault.platforms,
        instead=fault.instead,
    )
