"""A coverage profile of Go's, by package and by function.

A profile has a line for each block of statements: `file:line.column,line.column statements count` (cmd/cover). Profiles of one build have
the same blocks; a block is reached if it is in any of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_BLOCK = re.compile(r"(\S+\.go):([0-9]+)\.[0-9]+,[0-9]+\.[0-9]+ ([0-9]+) ([0-9]+)$")
_FUNCTION = re.compile(r"(\S+\.go):([0-9]+):\s+(\S+)\s+[0-9.]+%$")


@dataclass(frozen=True, slots=True)
class Reached:
    """How many statements there are, and how many were reached."""

    name: str
    statements: int
    reached: int

    @property
    def missed(self) -> int:
        """Statements that nothing reached."""
        return self.statements - self.reached

    @property
    def percent(self) -> float:
        """The share that was reached, in percent; 100 of nothing."""
        return 100.0 * self.reached / self.statements if self.statements else 100.0


@dataclass(frozen=True, slots=True)
class Profile:
    """Blocks by file and line: statements, and whether they were reached."""

    blocks: dict[str, tuple[int, bool]]

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in order."""
        return tuple(sorted({_file(block) for block in self.blocks}))

    def packages(self) -> list[Reached]:
        """Each package, in order."""
        return self._summed((str(PurePosixPath(_file(block)).parent), block) for block in self.blocks)

    def functions(self, listed: str) -> list[Reached]:
        """Each function of what `go tool cover -func` lists, named `file: function`."""
        starts: dict[str, list[tuple[int, str]]] = {}
        for line in listed.splitlines():
            if (match := _FUNCTION.match(line)) is not None:
                starts.setdefault(match[1], []).append((int(match[2]), match[3]))
        for of_file in starts.values():
            of_file.sort()
        return self._summed((_function(starts, block), block) for block in self.blocks)

    def _summed(self, named: Iterable[tuple[str, str]]) -> list[Reached]:
        sums: dict[str, list[int]] = {}
        for name, block in named:
            statements, reached = self.blocks[block]
            found = sums.setdefault(name, [0, 0])
            found[0] += statements
            found[1] += statements if reached else 0
        return [Reached(name, *sums[name]) for name in sorted(sums)]


def read_profiles(texts: Sequence[str]) -> Profile:
    """The profile of several runs of one build. Raises ValueError for a line that is no block."""
    blocks: dict[str, tuple[int, bool]] = {}
    for text in texts:
        for line in text.splitlines():
            if line.startswith("mode: ") or not line:
                continue
            match = _BLOCK.match(line)
            if match is None:
                raise ValueError(f"no block of a coverage profile: {line[:200]}")
            place = line.partition(" ")[0]
            known = blocks.get(place, (0, False))[1]
            blocks[place] = int(match[3]), known or match[4] != "0"
    return Profile(blocks)


def merged_text(profile: Profile) -> str:
    """The profile in Go's form, for its own tools."""
    lines = [f"{place} {n} {int(reached)}" for place, (n, reached) in sorted(profile.blocks.items())]
    return "\n".join(["mode: set", *lines, ""])


def _file(block: str) -> str:
    return block.partition(":")[0]


def _function(starts: dict[str, list[tuple[int, str]]], block: str) -> str:
    file, _, rest = block.partition(":")
    of_file = starts.get(file, [])
    at = bisect_right([line for line, _ in of_file], int(rest.partition(".")[0])) - 1
    return f"{file}: {of_file[at][1] if at >= 0 else '?'}"
