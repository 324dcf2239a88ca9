"""The essentially different ways to a violation: the rows of `podrace ways -o json`, and the report for people."""

from __future__ import annotations

import msgspec
from rich.console import Console
from rich.text import Text

from ..document import Finding, Told
from ..text.findings_text import INDENT, print_heading, print_versions, print_wrapped, scope_words
from ..text.story_text import print_counterexample
from ..text.table import seconds


class WayFound(msgspec.Struct, frozen=True):
    """One way: the kinds of its steps, those of them that not every way takes, and the counterexample."""

    kinds: tuple[str, ...]
    own: tuple[str, ...]
    finding: Finding


class WaysFound(Told, frozen=True):
    """The ways to a violation of one property of one scenario in one release, the shorter first.

    `complete`: every run that violates the property takes all kinds of steps of one of them. `common` are the kinds that all of
    them take. `searches` and `states` count what was explored; `seconds` is left out (None) where equal
    input must give equal reports.
    """

    complete: bool
    searches: int
    states: int
    seconds: float | None
    common: tuple[str, ...] = ()
    ways: tuple[WayFound, ...] = ()

    def untimed(self) -> WaysFound:
        """The same without what depends on the clock."""
        ways = tuple(
            msgspec.structs.replace(way, finding=msgspec.structs.replace(way.finding, seconds=None))
            for way in self.ways
        )
        return msgspec.structs.replace(self, seconds=None, ways=ways)

    def findings(self) -> list[Finding]:
        """What other forms of reports show: each way as a finding of its own, or that there is none."""
        return [way.finding for way in self.ways] or [self._head()]

    def _head(self) -> Finding:
        return self.as_finding(self.states, 0, 0, self.seconds)

    def print(self, console: Console, whole: bool = False) -> None:
        """Print everything that there is to say; as a `whole`, the steps of each way also in lanes."""
        for note in self.notes:
            print_wrapped(console, Text(f"note: {note}", "dim"))
        print_heading(console, self._head())
        for number, way in enumerate(self.ways, 1):
            console.print()
            print_wrapped(console, Text(f"Way {number} of {len(self.ways)}", "bold"), INDENT)
            if way.own:
                print_wrapped(console, Text(f"takes, as not every way does: {', '.join(way.own)}"), INDENT)
            print_counterexample(console, way.finding, whole)
        if self.common:
            console.print()
            print_wrapped(console, Text(f"Every way takes: {', '.join(self.common)}."), INDENT)
        elapsed = "" if self.seconds is None else f" ({seconds(self.seconds)})"
        print_wrapped(console, Text(f"{self.words}{elapsed}", "bold"), INDENT)
        if self.scope:
            print_wrapped(console, Text(f"Scope: {scope_words(self.scope)}."), INDENT)
        print_versions(console, [self.version], INDENT)
