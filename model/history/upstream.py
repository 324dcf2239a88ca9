"""Which of upstream's functions the elements of the model stand for, and what those functions were when last looked at.

`functions.yaml` is written by hand; `hashes.json` by `podrace drift --update`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

HERE = Path(__file__).parent
HASHES = HERE / "hashes.json"


@dataclass(frozen=True, slots=True)
class Mirror:
    """Elements of the model and what they stand for, in words, and `functions`: those of upstream by file."""

    upstream: str
    model: str
    releases: str
    functions: Mapping[str, tuple[str, ...]]

    @property
    def places(self) -> tuple[str, ...]:
        """Every function as `file:Type.Name`."""
        return tuple(f"{file}:{name}" for file, names in self.functions.items() for name in names)


@dataclass(frozen=True, slots=True)
class Looked:
    """When upstream was last looked at: `release` says where, `hashes` are those of the functions, by place."""

    release: str
    hashes: Mapping[str, str]


@cache
def mirrors() -> tuple[Mirror, ...]:
    """All of them, in the order of docs/functions.md."""
    rows = yaml.safe_load((HERE / "functions.yaml").read_text(encoding="utf-8"))
    return tuple(
        Mirror(
            row["upstream"],
            row["model"],
            row["releases"],
            {file: tuple(names) for file, names in row.get("functions", {}).items()},
        )
        for row in rows
    )


def last_look(path: Path = HASHES) -> Looked:
    """What the file says. Raises OSError or ValueError."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or not isinstance(found.get("functions"), dict):
        raise ValueError("it has no `functions`")
    return Looked(str(found.get("release", "")), {str(k): str(v) for k, v in found["functions"].items()})


def format_look(looked: Looked) -> str:
    """The text of the file."""
    told = {"release": looked.release, "functions": dict(sorted(looked.hashes.items()))}
    return json.dumps(told, indent=1) + "\n"
