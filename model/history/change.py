"""Upstream changes: each is known by what the scheduler did before it.

The model itself is the newest behaviour. A class marked with `@before` restores what one upstream change
replaced; a release is the model with the classes of every change that the release does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..language import Component

C = TypeVar("C", bound=type[Component])

RELEASE_ORDER = ("1.8", "1.9", "1.12", "1.13", "1.14", "1.15", "1.18", "1.19", "1.20")
"""The releases that a change can first be in; 1.20 stands for the model as it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """One upstream change.

    `key` is the number of its pull request, or a name where the number is not known. `first_in` is the first release
    of `RELEASE_ORDER` whose first version has it. `classes` together restore the behaviour before it.
    """

    key: str
    title: str
    first_in: str
    issues: tuple[int, ...]
    classes: tuple[type[Component], ...]

    def is_in(self, release: str) -> bool:
        """Whether the first version of a release has the change."""
        return RELEASE_ORDER.index(release) >= RELEASE_ORDER.index(self.first_in)

    @property
    def number(self) -> int | None:
        """The number of the pull request, if known."""
        return int(self.key) if self.key.isdigit() else None


CHANGES: dict[str, Change] = {}


def before(key: str, title: str, first_in: str, issues: tuple[int, ...] = ()) -> Callable[[C], C]:
    """Register a class that restores the behaviour before a change; several classes may share a key."""

    def register(cls: C) -> C:
        known = CHANGES.get(key)
        classes: tuple[type[Component], ...] = (*known.classes, cls) if known else (cls,)
        CHANGES[key] = Change(key, title, first_in, issues, classes)
        return cls

    return register
