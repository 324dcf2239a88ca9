"""Where a scenario is written, for forms that point into files."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Place(msgspec.Struct, frozen=True):
    """Where a scenario is written: its file, the line that asks for the property, and those of its pods and nodes."""

    file: str
    line: int = 1
    lines: dict[str, int] = {}

    def line_of(self, args: Mapping[str, object]) -> int:
        """The line of the first pod or node among the arguments of a step; else that of the property."""
        found = (self.lines.get(value) for value in args.values() if isinstance(value, str))
        return next((line for line in found if line is not None), self.line)
