"""A question that was answered twice, and how often the answers were the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """What podrace and the oracle say. `telling` answers are those that a search which finds nothing would miss:
    a violation, a difference, a symmetry.
    """

    about: str
    podrace: Any
    oracle: Any
    telling: bool

    @property
    def agreed(self) -> bool:
        """Whether both say the same."""
        return bool(self.podrace == self.oracle)


Compare = Callable[[int], Iterator[Question]]
"""The questions about the random system, or systems, of a number."""


class Skipped(Exception):
    """Nothing can be asked about the system of this number."""


@dataclass(slots=True)
class Tally:
    """The comparisons of one kind. Each disagreement says which system and which question it was."""

    systems: int = 0
    skipped: int = 0
    comparisons: int = 0
    telling: int = 0
    disagreements: list[str] = field(default_factory=list)

    def add(self, compare: Compare, seed: int) -> None:
        """Ask about one more system. Whoever fails to answer disagrees."""
        questions: list[Question] = []
        try:
            questions.extend(compare(seed))
        except Skipped:
            self.skipped += 1
            return
        except Exception as error:
            self.disagreements.append(f"{seed}: {type(error).__name__}: {error}")
        self.systems += 1
        for question in questions:
            self.comparisons += 1
            self.telling += question.telling
            if not question.agreed:
                self.disagreements.append(
                    f"{seed}: {question.about}: podrace {question.podrace!r}, oracle {question.oracle!r}"
                )

    def include(self, other: Tally) -> None:
        """Count what another one counted."""
        self.systems += other.systems
        self.skipped += other.skipped
        self.comparisons += other.comparisons
        self.telling += other.telling
        self.disagreements += other.disagreements
