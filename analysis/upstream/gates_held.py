"""Which feature gates a source tree has otherwise than the version that it is held against."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GateChange:
    """A gate that has another stage or default, in a few words."""

    name: str
    words: str


def gate_changes(directory: Path, version: str) -> list[GateChange]:
    """The gates of a tree that are not what they were in a version. Raises UsageProblem."""
    return []
