"""What a configuration file says, with the line of everything in it."""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from pathlib import Path
from typing import Any, NoReturn

import yaml

from ...base.problems import Problem, UsageProblem
from ...base.text import one_line
from ...scenarios.values.yaml_values import Value, parse_document, read_text
from .found_file import TABLE, shown, table_of

_TAG = "tag:yaml.org,2002:"


def read_config(path: Path) -> Value | None:
    """The settings in a file, with their lines; None if it has none. Raises UsageProblem."""
    if not path.is_file():
        raise UsageProblem(f"{shown(path)}: there is no such file: name one with settings for podrace")
    file = shown(path)
    try:
        text = read_text(path, file)
        if path.suffix == ".toml":
            return _from_toml(text, file)
        idle = ("", "---", "...")
        if all(line.strip() in idle or line.lstrip().startswith("#") for line in text.splitlines()):
            return None
        return parse_document(text, file)
    except Problem as error:
        raise UsageProblem(str(error)) from None


def _from_toml(text: str, file: str) -> Value | None:
    """The table for podrace in the form that YAML has, so that one reader does for both."""
    try:
        # A number keeps the digits that were written: 1.10 stays 1.10.
        table = table_of(tomllib.loads(text, parse_float=_Written))
    except tomllib.TOMLDecodeError as error:
        raise UsageProblem(f"{file}: not TOML: {one_line(str(error), 120)}") from None
    if table is None:
        return None
    return Value(file, "", _Lines(text).node(TABLE, table))


class _Written(str):
    """A number with a point, as it was written."""


class _Lines:
    """Finds where the keys of a TOML text are: tomllib does not tell.

    A key is in the statement that ends the shortest beginning of the text that is TOML and has it.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._read: dict[int, Any] = {}

    def line_of(self, path: tuple[str, ...]) -> int:
        """The line on which the statement with this key begins."""
        ends = range(len(self._lines) + 1)
        end = bisect_left(ends, True, key=lambda n: _has(self._from(n), path))
        begin = max(end - 1, 0)
        while begin and self._up_to(begin) is None:
            begin -= 1
        return min(begin + 1, len(self._lines))

    def _up_to(self, count: int) -> Any:
        """What the first lines say; None if they end within a statement."""
        if count not in self._read:
            try:
                self._read[count] = tomllib.loads("\n".join(self._lines[:count]))
            except tomllib.TOMLDecodeError:
                self._read[count] = None
        return self._read[count]

    def _from(self, count: int) -> Any:
        """What the shortest beginning of at least so many lines says that ends with a statement."""
        whole = (self._up_to(n) for n in range(count, len(self._lines) + 1))
        return next(read for read in whole if read is not None)

    def node(self, path: tuple[str, ...], value: Any) -> yaml.Node:
        """A value of the text as YAML has it."""
        mark: Any = yaml.Mark("", 0, self.line_of(path) - 1, 0, None, 0)
        if isinstance(value, dict):
            members: list[tuple[yaml.Node, yaml.Node]] = []
            for name, inner in value.items():
                node = self.node((*path, name), inner)
                members.append((yaml.ScalarNode(_TAG + "str", name, node.start_mark), node))
            return yaml.MappingNode(_TAG + "map", members, mark)
        if isinstance(value, list):
            return yaml.SequenceNode(_TAG + "seq", [self.node(path, inner) for inner in value], mark)
        if isinstance(value, bool):
            return yaml.ScalarNode(_TAG + "bool", str(value).lower(), mark)
        kind = {_Written: "float", int: "int", str: "str"}.get(type(value), "timestamp")
        return yaml.ScalarNode(_TAG + kind, str(value), mark)


def _has(document: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(document, dict) or name not in document:
            return False
        document = document[name]
    return True


def fail(value: Value, problem: str) -> NoReturn:
    """Refuse a setting. Raises UsageProblem with its place."""
    try:
        value.fail(problem)
    except Problem as error:
        raise UsageProblem(str(error)) from None
