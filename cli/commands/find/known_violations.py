"""`--baseline` and `--write-baseline`: which violations are known, for the commands that check."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from ....base.structs import Data
from ....base.text import counted
from ...terminal.output import Output, say

if TYPE_CHECKING:
    from ....analysis.request.baseline import Entry
    from ....reports.document import Finding


class KnownViolations(Data):
    """What the two options ask for."""

    entries: Sequence[Entry]
    target: Path | None
    given: bool

    def hold(self, findings: list[Finding], out: Output) -> list[Finding]:
        """The findings held to the baseline; writes the new one. What of the baseline was not looked at is said on stderr."""
        if not self.given and self.target is None:
            return findings
        from ....analysis.request.baseline import (
            held_to_baseline,
            new_baseline,
            not_looked_at,
            questions_failed,
            text_of,
        )
        from ....analysis.request.option_files import write_text

        held = held_to_baseline(findings, self.entries, out.style(), date.today())
        if left := not_looked_at(self.entries, findings):
            places = ", ".join(entry.subject for entry in left[:3]) + (", ..." if len(left) > 3 else "")
            say(f"{counted(len(left), 'known violation')} took no part: {places}", out.no_color)
        if self.target is not None:
            entries, fresh = new_baseline(held, self.entries, out.style())
            write_text("--write-baseline", self.target, text_of(entries))
            todo = f", {fresh} without a reason: say why each is accepted" if fresh else ""
            say(f"wrote {self.target}: {counted(len(entries), 'known violation')}{todo}", out.no_color)
            if asked := questions_failed(held, out.style()):
                told = f"{counted(asked, 'question')} of `ask` failed: a baseline has no questions"
                say(f"{told}, so change the expected answer instead", out.no_color)
        return held


def known_violations(
    baseline: Path | None, target: Path | None, properties: Collection[str]
) -> KnownViolations:
    """What the options name, before any search. Raises Problem for a baseline with a mistake, and for a file that cannot be written."""
    if target is not None:
        from ....analysis.request.option_files import refuse_unwritable

        refuse_unwritable("--write-baseline", target)
    if baseline is None:
        return KnownViolations((), target, False)
    from ....analysis.request.baseline import read_baseline

    return KnownViolations(read_baseline(baseline, properties), target, True)
