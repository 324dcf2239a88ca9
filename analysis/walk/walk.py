"""A walk: the steps that were taken, where on it one stands, and the walks that were left."""

from __future__ import annotations

from dataclasses import replace

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import counted
from ...checker.core.exploration import Path

MOST_BRANCHES = 20
MOST_STEPS = 10_000
"""A walk by hand has no more steps; a page may not send one."""


class Walk(Data):
    """Transitions by number; it stands after the first `at` of them. What comes after that was taken once, and is there to go forward."""

    path: Path = ()
    at: int = 0
    branches: tuple[Path, ...] = ()

    @property
    def taken(self) -> Path:
        """The steps up to where it stands."""
        return self.path[: self.at]

    def taking(self, number: int) -> Walk:
        """One step on. Where it is not the one that was taken there before, the old walk stays as a branch."""
        if self.path[self.at : self.at + 1] == (number,):
            return replace(self, at=self.at + 1)
        if self.at >= MOST_STEPS:
            raise UsageProblem(f"a walk has at most {MOST_STEPS} steps")
        return self.along((*self.taken, number))

    def along(self, path: Path) -> Walk:
        """To the end of another walk; this one stays as a branch, unless one of them begins with the other."""
        if self.path[: len(path)] == path:
            return replace(self, at=len(path))
        return Walk(path, len(path), self._left_for(path))

    def to(self, at: int) -> Walk:
        """After so many of its steps. Raises UsageProblem."""
        if at < 0:
            raise UsageProblem("this is the start: there is no step before it")
        if at > len(self.path):
            raise UsageProblem(f"there is no step {at}: the walk has {counted(len(self.path), 'step')}")
        return replace(self, at=at)

    def onto(self, branch: int) -> Walk:
        """Onto a branch (from 1), where it parts from this walk. Raises UsageProblem."""
        if not 1 <= branch <= len(self.branches):
            raise UsageProblem(f"there is no branch {branch} of {len(self.branches)}")
        path = self.branches[branch - 1]
        same = next((i for i, (a, b) in enumerate(zip(path, self.path, strict=False)) if a != b), None)
        return Walk(path, min(len(path), len(self.path)) if same is None else same, self._left_for(path))

    def _left_for(self, path: Path) -> tuple[Path, ...]:
        others = (other for other in (*self.branches, self.path) if path[: len(other)] != other)
        return tuple(dict.fromkeys(others))[-MOST_BRANCHES:]
