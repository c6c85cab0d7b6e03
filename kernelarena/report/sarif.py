"""Findings as SARIF, which code hosts and editors show beside the lines that they are about.

The form is that of OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from kernelarena import __version__
from kernelarena.portability.finding import Examination, Finding
from kernelarena.portability.rule import Rule
from kernelarena.report.text import clean, listing

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(examination: Examination, rules: Sequence[Rule]) -> str:
    """Return a log of one run.

    Parameters
    ----------
    examination
        What was found.
    rules
        All that was looked for; each is described in the log, also where nothing was found.
    """
    places = {rule.id: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "kab-mc",
                "semanticVersion": _semantic(__version__),
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": clean(place)}} for place in examination.unreadable
                ],
            }
        ],
        "results": [_result(finding, places) for finding in examination.findings],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _semantic(version: str) -> str:
    """Return a version of Python's as SARIF wants it: three numbers, and a hyphen before what follows."""
    numbers = version.split("+")[0].split(".")
    return ".".join([*filter(str.isdigit, numbers), "0", "0"][:3])


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": type(rule).__name__,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join((rule.__doc__ or rule.summary).split())},
        "defaultConfiguration": {"level": str(rule.severity)},
    }


def _result(finding: Finding, places: dict[str, int]) -> dict[str, Any]:
    uri = _uri(finding.path)
    # A line that moves is still the same finding, and one that is changed is another.
    identity = f"{finding.rule}\0{uri}\0{finding.text.strip()}".encode("utf-8", "replace")
    fingerprint = hashlib.sha256(identity).hexdigest()
    message = f"On {listing(finding.platforms)}: {finding.breaks}. Instead: {finding.instead}."
    return {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": str(finding.severity),
        "message": {"text": clean(message)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri},
                    "region": {
                        "startLine": finding.line,
                        "startColumn": finding.column,
                        "endLine": finding.end_line,
                        "endColumn": finding.end_column,
                    },
                }
            }
        ],
        "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint[:32]}:1"},
        "properties": {"platforms": list(finding.platforms)},
    }


def _uri(path: str) -> str:
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(pure.as_posix(), safe="/")
