"""Reads a file of conformance cases; every mistake is one line that names the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..scenarios.reader.errors import ScenarioError, one_line
from .outcome import Case

MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class Table:
    """A file: its table's name, and its cases in order."""

    name: str
    cases: tuple[Case, ...]


def read_table(path: Path) -> Table:
    """The table in a file; raises ScenarioError."""
    try:
        if path.is_dir():
            raise ScenarioError(
                f"{one_line(str(path), 200)}: is a directory: give a file of conformance cases"
            )
        if path.stat().st_size > MAX_BYTES:
            raise ScenarioError(f"{one_line(str(path), 200)}: is too large for a file of conformance cases")
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise ScenarioError(f"{one_line(str(path), 200)}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{one_line(str(path), 200)}: is not JSON: {one_line(str(error), 100)}") from None
    return _table(one_line(str(path), 200), content)


def _table(file: str, content: Any) -> Table:
    cases = content.get("cases") if isinstance(content, Mapping) else None
    if not isinstance(cases, list):
        raise ScenarioError(f"{file}: expected an object with `table` and a list of `cases`")
    seen: set[str] = set()
    for number, case in enumerate(cases, 1):
        name = case.get("id") if isinstance(case, Mapping) else None
        if not isinstance(name, str) or not name:
            raise ScenarioError(f"{file}: case {number} has no `id`")
        if name in seen:
            raise ScenarioError(f"{file}: two cases have the id `{one_line(name)}`")
        seen.add(name)
    return Table(str(content.get("table", "")), tuple(cases))
