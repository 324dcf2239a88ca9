"""Where a scenario is written, for annotations: relative to the working directory, as code scanning wants it."""

from __future__ import annotations

import os
from pathlib import Path

from ..reports.document import Place
from ..scenarios import Scenario


def place_of(scenario: Scenario, identifier: str, origin: str = "") -> Place:
    """The scenario's file, the line that asks for this property (`origin`, if it is a field; else the first), and the lines of its pods and nodes.

    A file outside of the working directory keeps its absolute name, a scenario of podrace the name that `podrace races` shows.
    """
    sections = (("properties", scenario.properties), ("also", scenario.also))
    asked = [origin] if origin else []
    asked += [f"{name}[{members.index(identifier)}]" for name, members in sections if identifier in members]
    line = next((scenario.lines[path] for path in asked if path in scenario.lines), 1)
    members = {
        path.partition(".")[2]: at
        for kind in ("nodes.", "pods.")
        for path, at in scenario.lines.items()
        if path.startswith(kind)
    }
    return Place(_shown(scenario.file), line, members)


def _shown(file: str) -> str:
    path = Path(file)
    if not path.is_file():
        return file
    relative = os.path.relpath(path)
    return Path(path.absolute() if relative.startswith("..") else relative).as_posix()
