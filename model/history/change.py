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

RELEASE_ORDER = (
    "1.8", "1.9", "1.12", "1.13", "1.14", "1.15", "1.18", "1.19", "1.20", "1.21", "1.22", "1.23", "1.24", "1.25",
    "1.26", "1.27", "1.28", "1.29", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35",
)  # fmt: skip
"""The releases, oldest first; each stands for its first version (1.13 is 1.13.0)."""

LATER = "later"
"""The first release of a change that none of them has."""


@dataclass(frozen=True, slots=True)
class Change:
    """One upstream change.

    `key` is the number of its pull request, or a name where the number is not known. `first_in` is the first release
    of `RELEASE_ORDER` whose first version has it, or LATER. `classes` together restore the behaviour before it. A change that
    mends a regression names in `since` the first release that had the regression. `also_in` are earlier releases that
    had the change before it was taken back for a while; `until` is the first release for which it was taken back again.
    """

    key: str
    title: str
    first_in: str
    issues: tuple[int, ...]
    classes: tuple[type[Component], ...]
    since: str = RELEASE_ORDER[0]
    also_in: tuple[str, ...] = ()
    until: str | None = None

    def is_in(self, release: str) -> bool:
        """Whether the first version of a release behaves as after the change."""
        at = RELEASE_ORDER.index(release)
        if release in self.also_in:
            return True
        if self.until is not None and at >= RELEASE_ORDER.index(self.until):
            return False
        return at >= self.age or at < RELEASE_ORDER.index(self.since)

    @property
    def age(self) -> int:
        """How many releases came before the first that has it."""
        return len(RELEASE_ORDER) if self.first_in == LATER else RELEASE_ORDER.index(self.first_in)

    @property
    def number(self) -> int | None:
        """The number of the pull request, if known."""
        return int(self.key) if self.key.isdigit() else None


CHANGES: dict[str, Change] = {}


def before(
    key: str,
    title: str,
    first_in: str,
    issues: tuple[int, ...] = (),
    since: str = RELEASE_ORDER[0],
    also_in: tuple[str, ...] = (),
    until: str | None = None,
) -> Callable[[C], C]:
    """Register a class that restores the behaviour before a change; several classes may share a key."""

    def register(cls: C) -> C:
        known = CHANGES.get(key)
        classes: tuple[type[Component], ...] = (*known.classes, cls) if known else (cls,)
        CHANGES[key] = Change(key, title, first_in, issues, classes, since, also_in, until)
        return cls

    return register
