"""The names of enum members and of references, as constants of another language."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from ...model.language import Entity, Sort, TransitionSystem, topological
from .names import Names


class Constants:
    """One constant per member of each enum and per entity of each kind that the system mentions."""

    def __init__(self, system: TransitionSystem, names: Names) -> None:
        self._of: dict[Sort, dict[int, str]] = {}
        sorts = dict.fromkeys(v.sort for v in system.variables)
        sorts.update(dict.fromkeys(node.sort for node in topological(system.roots())))
        for sort in sorts:
            if sort.tag is not None:
                words = member_words(system, sort)
                self._of[sort] = {
                    code: names.new(f"{sort.tag.__name__} {word}") for code, word in enumerate(words)
                }

    def name(self, sort: Sort, code: int) -> str:
        """The constant for a code; of an int, its digits."""
        return str(code) if sort.tag is None else self._of[sort][code]

    def members(self) -> Iterator[tuple[Sort, list[tuple[int, str]]]]:
        """Each sort with its codes and names."""
        for sort, table in self._of.items():
            yield sort, list(table.items())


def member_words(system: TransitionSystem, sort: Sort) -> list[str]:
    """What the model calls each code of an enum or of references, in order."""
    tag = sort.tag
    assert tag is not None
    if issubclass(tag, Enum):
        return [member.name for member in tag]
    assert issubclass(tag, Entity)
    return ["none", *(entity.name for entity in system.universe[tag])]
