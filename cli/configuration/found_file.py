"""Which configuration file holds: `.podrace.yaml`, or pyproject.toml with `[tool.podrace]`, in the working directory or above it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.problems import UsageProblem

YAML_NAME, TOML_NAME = ".podrace.yaml", "pyproject.toml"
TABLE = ("tool", "podrace")


def find_config(start: Path) -> Path | None:
    """The file that holds for a directory: the nearest one, upwards. Raises UsageProblem where one directory has two."""
    for folder in (start, *start.parents):
        own, shared = folder / YAML_NAME, folder / TOML_NAME
        has_table = shared.is_file() and _says_something(shared)
        if own.is_file() and has_table:
            raise UsageProblem(
                f"{shown(own)}: {shown(shared)} has settings, too ([tool.podrace]): keep one of them"
            )
        if own.is_file():
            return own
        if has_table:
            return shared
    return None


def _says_something(path: Path) -> bool:
    """Whether a pyproject.toml has a table for podrace; one that cannot be read is none of our business unless it may."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    if "podrace" not in text:
        return False
    import tomllib

    try:
        return table_of(tomllib.loads(text)) is not None
    except tomllib.TOMLDecodeError:
        return "tool.podrace" in text


def shown(path: Path) -> str:
    """How messages name a file: relative to the working directory."""
    from ...base.text import one_line

    return one_line(Path(os.path.relpath(path)).as_posix(), 200)


def table_of(document: Mapping[str, Any]) -> Any:
    """What a pyproject.toml says to podrace; None if it says nothing."""
    tools = document.get("tool")
    return tools.get("podrace") if isinstance(tools, dict) else None
