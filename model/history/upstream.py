"""What the model has of each of upstream's functions: elements that stand for it, an abstraction, or nothing, with the reason.

The rows are written by hand, in `functions/`; docs/notebook/functions.md shows them.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import yaml

from ...base.structs import Data

FUNCTIONS = Path(__file__).parent / "functions"
PARTS = (
    "schedule_one", "event_handlers", "queue", "cache", "framework", "preemption", "plugins", "claims", "state_of_plugins", "api_calls",
    "api_server", "older",
)  # fmt: skip
"""The files there, in the order of docs/notebook/functions.md."""

TYPE = "type "
"""How the name of a type begins in a record of a tree: types are there for their new names only."""

OUTSIDE = "outside"
KINDS = ("abstracted", "missing", OUTSIDE)
"""Why a function has no element."""


class Mirror(Data):
    """Elements of the model and what they stand for, in words, and `functions`: those of upstream by file."""

    upstream: str
    model: str
    releases: str
    functions: Mapping[str, tuple[str, ...]]

    @property
    def places(self) -> tuple[str, ...]:
        """Every function as `file:Type.Name`."""
        return tuple(f"{file}:{name}" for file, names in self.functions.items() for name in names)

    @property
    def elements(self) -> list[str]:
        """The elements of the model that the row names."""
        return re.findall(r"`([^`]+)`", self.model)


class NotModelled(Data):
    """Functions without an element, and why.

    `kind` is `abstracted` (the reason says what the model has instead), `missing` (it could matter, and is not modelled) or `outside` of what
    the model is about. The names of `functions` may be patterns (`HTTPExtender.*`); `files` are patterns of whole files, whose functions are not even recorded.
    """

    kind: str
    reason: str
    functions: Mapping[str, tuple[str, ...]]
    files: tuple[str, ...]

    @property
    def patterns(self) -> tuple[str, ...]:
        """Every function, or pattern of them, as `file:Type.Name`."""
        return tuple(f"{file}:{name}" for file, names in self.functions.items() for name in names)


class Part(Data):
    """The rows of one part of upstream: those of one file of `functions/`."""

    title: str
    modelled: tuple[Mirror, ...]
    others: tuple[NotModelled, ...]


@cache
def parts() -> tuple[Part, ...]:
    """All of them, in the order of docs/notebook/functions.md."""
    return tuple(_part(FUNCTIONS / f"{name}.yaml") for name in PARTS)


@cache
def mirrors() -> tuple[Mirror, ...]:
    """All rows with elements of the model."""
    return tuple(mirror for part in parts() for mirror in part.modelled)


def is_left_out(file: str) -> bool:
    """Whether a whole file is outside of the model."""
    return any(fnmatchcase(file, pattern) for pattern in _files())


def is_value(place: str) -> bool:
    """Whether a place is a variable, constant or type of a package (`file:var Name`), which has no row of its own."""
    return place.partition(":")[2].startswith(("var ", "const ", TYPE))


def elements_of(place: str) -> list[str]:
    """The elements of the model that stand for a function."""
    found = (element for row in _mirrors_by_place().get(place, ()) for element in row.elements)
    return list(dict.fromkeys(found))


@cache
def not_modelled(place: str) -> NotModelled | None:
    """The row of a function without elements: the one that names it, or else the first whose pattern it is."""
    rows = [row for part in parts() for row in part.others]
    named = next((row for row in rows if place in row.patterns), None)
    return named or next((row for row in rows if any(fnmatchcase(place, p) for p in row.patterns)), None)


@cache
def _mirrors_by_place() -> dict[str, list[Mirror]]:
    found: dict[str, list[Mirror]] = {}
    for mirror in mirrors():
        for place in mirror.places:
            found.setdefault(place, []).append(mirror)
    return found


@cache
def _files() -> tuple[str, ...]:
    return tuple(pattern for part in parts() for row in part.others for pattern in row.files)


def _part(path: Path) -> Part:
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Part(
        told["title"],
        tuple(
            Mirror(row["upstream"], row["model"], row["releases"], _functions(row))
            for row in told.get("modelled", ())
        ),
        tuple(
            NotModelled(kind, row["reason"], _functions(row), tuple(row.get("files", ())))
            for kind in KINDS
            for row in told.get(kind, ())
        ),
    )


def _functions(row: Mapping[str, Mapping[str, list[str]]]) -> dict[str, tuple[str, ...]]:
    return {file: tuple(names) for file, names in row.get("functions", {}).items()}
