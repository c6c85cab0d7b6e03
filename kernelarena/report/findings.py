"""Findings as JSON."""

from __future__ import annotations

import json
from typing import Any

from kernelarena.portability.finding import SCHEMA, Examination
from kernelarena.report.document import published


def as_json(examination: Examination) -> str:
    """Return the document that ``schema/findings-1.schema.json`` describes."""
    document = examination.model_dump(mode="json")
    document = {"schema": document.pop("schema_version"), **document}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document, from which the file is written."""
    return published(Examination, SCHEMA)
