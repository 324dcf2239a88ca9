"""The report for programs: a JSON list with one object per verdict."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..document import Finding
from ..filtered import json_filtered


@json_filtered
def to_json(findings: Sequence[Finding]) -> str:
    """The findings as JSON, indented, with a newline at the end; the same findings give the same text."""
    return msgspec.json.format(msgspec.json.encode(list(findings)), indent=2).decode() + "\n"


def from_json(text: str | bytes) -> list[Finding]:
    """The findings in a JSON report; msgspec.ValidationError if it is none."""
    return msgspec.json.decode(text, type=list[Finding])
