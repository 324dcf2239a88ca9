"""What a verdict on a scenario that leaves numbers open says of its clusters."""

from __future__ import annotations

import msgspec


class Clusters(msgspec.Struct, frozen=True):
    """How many clusters can be told apart within the ranges of a file, and what came out for them.

    `ranges` are as written, by their place in the file, and `assumed` what a choice of numbers must meet to be a cluster
    at all. `explored` is how many were searched: one of those that are alike up to renaming. Of the `exposed` ones,
    `example` has the numbers of the simplest, and `scenario` the file with these numbers.
    """

    ranges: dict[str, str]
    distinguishable: int
    explored: int
    exposed: int = 0
    undecided: int = 0
    assumed: tuple[str, ...] = ()
    example: dict[str, str] = {}
    scenario: str = ""

    @property
    def scope(self) -> str:
        """With what clusters are meant."""
        ranges = ", ".join(f"{name} {written}" for name, written in self.ranges.items())
        such = f", such that {' and '.join(self.assumed)}" if self.assumed else ""
        return f"{ranges}{such}"

    @property
    def numbers(self) -> str:
        """The numbers of the example."""
        return ", ".join(f"{name} {number}" for name, number in self.example.items())
