"""Findings in the forms that programs read."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlparse

import jsonschema
import pytest

import kernelarena.report
from kernelarena.platforms import catalogue
from kernelarena.portability.examine import examine
from kernelarena.portability.rules import RULES
from kernelarena.portability.source import Grammar, Source
from kernelarena.report.findings import as_json, json_schema
from kernelarena.report.sarif import sarif

PLATFORMS = [platform for platform in catalogue.load().values() if platform.limits is not None]
SOURCES = [
    Source("src/a b/ä.cu", Grammar.CPP, "#include <mma.h>\n__global__ void k() { /* é */ __syncwarp(0xffffffff); }\n"),
    Source("/tmp/k.py", Grammar.PYTHON, "import torch\nfast = torch.cuda.get_device_capability() >= (9, 0)\n"),
    Source("broken.py", Grammar.PYTHON, "def f(:\n"),
]
SARIF = {  # the essentials of OASIS' schema: what it requires, and the types and words that it allows
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"enum": ["2.1.0"]},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    },
    "additionalProperties": False,
    "$defs": {
        "message": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "run": {
            "type": "object",
            "required": ["tool", "results"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {"driver": {"$ref": "#/$defs/driver"}},
                    "additionalProperties": False,
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "invocations": {"type": "array", "items": {"$ref": "#/$defs/invocation"}},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
            "additionalProperties": False,
        },
        "driver": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$"},
                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
            },
            "additionalProperties": False,
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string"},
                "name": {"type": "string"},
                "shortDescription": {"$ref": "#/$defs/message"},
                "fullDescription": {"$ref": "#/$defs/message"},
                "defaultConfiguration": {"type": "object", "properties": {"level": {"$ref": "#/$defs/level"}}},
            },
            "additionalProperties": False,
        },
        "invocation": {
            "type": "object",
            "required": ["executionSuccessful"],
            "properties": {
                "executionSuccessful": {"type": "boolean"},
                "toolExecutionNotifications": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["message"],
                        "properties": {"message": {"$ref": "#/$defs/message"}, "level": {"$ref": "#/$defs/level"}},
                        "additionalProperties": False,
                    },
                },
            },
            "additionalProperties": False,
        },
        "result": {
            "type": "object",
            "required": ["message"],
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": -1},
                "level": {"$ref": "#/$defs/level"},
                "message": {"$ref": "#/$defs/message"},
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "properties": {"type": "object"},
            },
            "additionalProperties": False,
        },
        "location": {
            "type": "object",
            "required": ["physicalLocation"],
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9:/._~%-]+$"}},
                            "additionalProperties": False,
                        },
                        "region": {
                            "type": "object",
                            "properties": {
                                name: {"type": "integer", "minimum": 1}
                                for name in ("startLine", "startColumn", "endLine", "endColumn")
                            },
                            "additionalProperties": False,
                        },
                    },
                    "additionalProperties": False,
                }
            },
            "additionalProperties": False,
        },
    },
}


@pytest.fixture(scope="module")
def examination():
    return examine(SOURCES, PLATFORMS)


@pytest.fixture(scope="module")
def log(examination):
    return json.loads(sarif(examination, RULES))


def test_sarif_has_what_its_schema_requires_and_nothing_else(log):
    jsonschema.Draft202012Validator.check_schema(SARIF)
    jsonschema.Draft202012Validator(SARIF).validate(log)


def test_sarif_says_of_every_finding_where_it_is_and_what_it_breaks(log, examination):
    (run,) = log["runs"]
    results = run["results"]
    assert [result["ruleId"] for result in results] == ["vendor-library", "lane-mask", "device-capability"]
    for result, finding in zip(results, examination.findings, strict=True):
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert (rule["id"], rule["defaultConfiguration"]["level"]) == (result["ruleId"], result["level"])
        place = result["locations"][0]["physicalLocation"]
        assert unquote(urlparse(place["artifactLocation"]["uri"]).path) == finding.path
        source = next(source for source in SOURCES if source.path == finding.path)
        region = place["region"]
        line = source.lines[region["startLine"] - 1]
        assert finding.rule != "lane-mask" or line[region["startColumn"] - 1 : region["endColumn"] - 1] == "0xffffffff"
        assert result["properties"]["platforms"] == list(finding.platforms)
        assert finding.instead in result["message"]["text"]
    assert len({result["partialFingerprints"]["primaryLocationLineHash"] for result in results}) == len(results)
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    assert said["message"]["text"].startswith("broken.py:1: ")


def test_a_finding_whose_line_moves_keeps_its_fingerprint(log):
    moved = [Source(source.path, source.grammar, "\n" + source.text) for source in SOURCES]
    later = json.loads(sarif(examine(moved, PLATFORMS), RULES))
    before, after = ([result["partialFingerprints"] for result in each["runs"][0]["results"]] for each in (log, later))
    assert before == after


def test_json_is_as_its_schema_says(examination):
    schema = json.loads((Path(kernelarena.report.__file__).parent / "schema" / "findings-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(as_json(examination))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["schema"] == "kernelarena.findings/1"
    assert document["files"] == 3
    assert [(each["path"], each["line"], each["column"]) for each in document["findings"]] == [
        ("src/a b/ä.cu", 1, 1),
        ("src/a b/ä.cu", 2, 42),
        ("/tmp/k.py", 2, 8),
    ]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({**document, "findings": [{"rule": "lane-mask"}]})


def test_the_schema_that_ships_is_the_one_of_the_models():
    """Write it anew with: json.dumps(kernelarena.report.findings.json_schema(), indent=2, ensure_ascii=False)."""

    def shape(node):
        if isinstance(node, dict):
            return {key: shape(value) for key, value in node.items() if key not in ("title", "description")}
        return [shape(item) for item in node] if isinstance(node, list) else node

    schema = json.loads((Path(kernelarena.report.__file__).parent / "schema" / "findings-1.schema.json").read_text())
    assert shape(schema) == shape(json_schema())
