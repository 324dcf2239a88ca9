"""Versions of one object, each in force from an unknown moment of its write on until a moment of the next one."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ..reading.records import EVER

T = TypeVar("T")


@dataclass(slots=True)
class Version(Generic[T]):
    """A value, which some write brought about between `begin` and `end`; `number` is the resourceVersion, where it is one."""

    begin: int
    end: int
    number: int | None
    value: T


@dataclass(slots=True)
class Versions(Generic[T]):
    """The values in the order of their writes: by resourceVersion where both have one, else by when they began.

    Equal values that follow each other are one.
    """

    known: list[Version[T]] = field(default_factory=list)

    def add(self, begin: int, end: int, number: int | None, value: T) -> bool:
        """Take a value; says whether it is another one than that before it."""
        place = len(self.known)
        while place and _is_after(self.known[place - 1], begin, number):
            place -= 1
        if place and self.known[place - 1].value == value:
            return False
        self.known.insert(place, Version(begin, end, number, value))
        return True

    def possible(self, since: int, until: int, also_next: bool = False) -> list[T]:
        """The values that may have been in force at some moment between these.

        With `also_next` also the one after them: where a line may be missing, what comes next may have been so already.
        """
        found = []
        for place, version in enumerate(self.known):
            following = self.known[place + 1].end if place + 1 < len(self.known) else EVER
            begun = (
                version.begin <= until or place == 0 or (also_next and self.known[place - 1].begin <= until)
            )
            if begun and following >= since:
                found.append(version.value)
        return found

    def forget(self, before: int) -> None:
        """Leave out what cannot be in force any more at that time."""
        while len(self.known) > 1 and self.known[1].end < before:
            del self.known[0]

    @property
    def last(self) -> T | None:
        """The value in force in the end."""
        return self.known[-1].value if self.known else None


def _is_after(version: Version[T], begin: int, number: int | None) -> bool:
    # Writes that do not overlap are in the order of their times, whatever a forged version says.
    if number is not None and version.number is not None and version.end >= begin:
        return version.number > number
    return version.begin > begin


def number_of(text: str) -> int | None:
    """A resourceVersion as a number; None if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 20 else None
