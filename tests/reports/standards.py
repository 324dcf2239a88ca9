"""The official schemas of the formats; `make tools` gets them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator, Draft202012Validator
from lxml import etree

from tests.checker.export.tools import require

TOOLS = Path(__file__).parents[2] / "build" / "tools"
SARIF = TOOLS / "sarif-schema-2.1.0.json"
JUNIT = TOOLS / "junit-10.xsd"


def assert_sarif(text: str) -> Any:
    """The text is a SARIF log by the schema of the standard; gives it as data."""
    require([] if SARIF.is_file() else ["the schema of SARIF"])
    log = json.loads(text)
    errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in _sarif().iter_errors(log)]
    assert errors == []
    return log


@cache
def _sarif() -> Draft7Validator:
    return Draft7Validator(json.loads(SARIF.read_text(encoding="utf-8")))


def assert_junit(text: str) -> Any:
    """The text is a JUnit report by the XML Schema of Jenkins' xUnit plugin; gives its root element."""
    require([] if JUNIT.is_file() else ["the schema of JUnit"])
    root = etree.fromstring(text.encode())
    schema = etree.XMLSchema(etree.parse(str(JUNIT)))
    assert schema.validate(root), schema.error_log
    return root


def assert_matches(schema: Any, document: Any) -> None:
    """The document is as a JSON Schema of podrace says."""
    Draft202012Validator.check_schema(schema)
    assert [e.message for e in Draft202012Validator(schema).iter_errors(document)] == []
