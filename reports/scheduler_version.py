"""Which version of the scheduler a verdict is about, and what is known of it."""

import builtins
from collections.abc import Iterable
from typing import Literal

import msgspec

from ..base.text import counted


class ReadVersion(msgspec.Struct, frozen=True):
    """A version by its full number, how its sources were read, and what of it is not modelled.

    `sources` says whether they were read as a `whole`, or the `changes` that made it, by pull request. `unmodelled_gates` are the feature
    gates that are on in it by default and of which the model has nothing; `unmodelled_changes`, of a pre-release, what it changed and the model does not have.
    """

    exact: str
    sources: Literal["whole", "changes"]
    unmodelled_gates: tuple[str, ...] = ()
    unmodelled_changes: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @builtins.property
    def reading(self) -> str:
        """How its sources were read, in words, and what is not modelled of a pre-release."""
        if self.sources == "whole":
            return f"{self.exact}: sources read in full"
        return f"{self.exact}: sources read by pull request, not in full{self._left_out}"

    @builtins.property
    def _left_out(self) -> str:
        if self.unmodelled_changes is msgspec.UNSET:
            return ""
        return f"; of its changes not modelled: {', '.join(self.unmodelled_changes)}"

    @builtins.property
    def line(self) -> str:
        """What a reader at a terminal is told."""
        count = len(self.unmodelled_gates)
        if not count:
            return self.reading
        return f"{self.reading}; {counted(count, 'feature gate')} on by default and not modelled (podrace gates --release {self.exact})"

    @builtins.property
    def words(self) -> str:
        """The same with the gates by name."""
        if not self.unmodelled_gates:
            return f"{self.reading}."
        return f"{self.reading}. On by default and not modelled: {', '.join(self.unmodelled_gates)}."


def versions_of(found: Iterable[ReadVersion | msgspec.UnsetType]) -> list[ReadVersion]:
    """Each version once."""
    return list(dict.fromkeys(version for version in found if version is not msgspec.UNSET))


def in_part(found: Iterable[ReadVersion | msgspec.UnsetType]) -> list[str]:
    """What forms that name no other version say of those that the model has in part."""
    return [v.reading for v in versions_of(found) if v.unmodelled_changes is not msgspec.UNSET]
