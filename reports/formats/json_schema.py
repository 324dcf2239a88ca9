"""JSON Schemas (draft 2020-12) of the documents that podrace writes, made from the very types that write them."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from ..answers.ask_report import AskAnswer
from ..answers.replay_report import ReplayAnswer
from ..document import Finding
from ..reproduction import Reproduction
from ..stored import StoredTrace

DOCUMENTS: Mapping[str, tuple[Any, str]] = {
    "report": (list[Finding], "What `podrace check -o json` prints"),
    "ask": (list[AskAnswer], "What `podrace ask -o json` prints"),
    "replay": (ReplayAnswer, "What `podrace replay -o json` prints"),
    "reproduction": (list[Reproduction], "What `podrace reproduce -o json` prints"),
    "trace": (StoredTrace, "A counterexample as `podrace check --save-trace` stores it"),
}
"""The documents: their types and titles."""


def schema_of(name: str) -> dict[str, Any]:
    """The schema of one of DOCUMENTS."""
    kind, title = DOCUMENTS[name]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **json.loads(msgspec.json.encode(msgspec.json.schema(kind)))}


def format_schema(schema: Mapping[str, Any]) -> str:
    """A schema as a file: indented, with a newline at the end."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
