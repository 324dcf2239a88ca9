"""What random walks found: the rows of `podrace simulate -o json`, and the report for people."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from ..document import Finding, Shown, Value, show
from ..text.findings_text import INDENT, print_heading, print_versions, print_wrapped, scope_words
from ..text.story_text import print_counterexample
from ..text.table import VERDICT_STYLES, print_columns, seconds

MOST_LISTED = 12
"""How many variables the report for people lists with the values that they did not take."""


class Values(msgspec.Struct, frozen=True):
    """How many of its values a variable took, and which it did not; of a number, only how many."""

    variable: str
    seen: int
    possible: int
    missing: tuple[Value, ...] = ()


class Walked(Shown, frozen=True):
    """What the walks from one seed found about one property of one scenario in one release.

    `walks` ended, `resting` of them where nothing could happen any more. `walk` is the first that violated the property,
    after `met_after` steps; `trace` is what is left of it, and all counts end there. `steps_fired` says how often each
    step was taken. What depends on the clock is left out (None) where equal input must give equal reports.
    """

    seed: int
    by: str
    max_walks: int | None
    max_steps: int
    walks: int
    steps: int
    resting: int
    longest: int
    seconds: float | None
    steps_per_second: int | None
    walk: int | None = None
    met_after: int | None = None
    steps_fired: dict[str, int] = msgspec.field(default_factory=dict)
    values: tuple[Values, ...] = ()

    def untimed(self) -> Walked:
        """The same without what depends on the clock."""
        return msgspec.structs.replace(self, seconds=None, steps_per_second=None)

    def finding(self) -> Finding:
        """The counterexample as drawings and headings know it; the counts of states are those of no search."""
        return self.as_finding(0, self.steps, self.longest, self.seconds)


def print_walks(console: Console, found: Sequence[Walked], whole: bool = False) -> None:
    """Print everything that there is to say about these walks; as a `whole`, counterexamples also in lanes."""
    columns: dict[str, list[str]] = {
        "scenario": [w.scenario for w in found],
        "release": [w.label for w in found],
        "property": [w.property for w in found],
        "verdict": [w.verdict for w in found],
        "walks": [f"{w.walks:,}" for w in found],
        "steps": [f"{w.steps:,}" for w in found],
        "longest": [f"{w.longest:,}" for w in found],
        "time": [seconds(w.seconds) for w in found],
        "steps/s": ["" if w.steps_per_second is None else f"{w.steps_per_second:,}" for w in found],
    }
    styles = [{"verdict": VERDICT_STYLES[w.verdict]} for w in found]
    print_columns(console, columns, styles, ("longest", "steps", "walks", "time", "steps/s"))
    print_versions(console, (w.version for w in found))
    for note in dict.fromkeys(f"note: {w.scenario}: {note}" for w in found for note in w.notes):
        print_wrapped(console, Text(note, "dim"))
    for walked in found:
        console.print()
        print_heading(console, walked.finding())
        if walked.trace is not None:
            print_counterexample(console, walked.finding(), whole)
            console.print()
        else:
            print_wrapped(console, Text(walked.words), INDENT)
        for line in _coverage(walked):
            print_wrapped(console, Text(line), INDENT)


def _coverage(walked: Walked) -> list[str]:
    if walked.verdict == "IGNORED":
        return []
    lines = [f"Seed {walked.seed}: the same seed gives the same walks."]
    if walked.verdict != "VIOLATED":
        lines[0] += " For more, raise --walks, --steps or --timeout, or take another --seed."
    if walked.scope:
        lines.append(f"Scope: {scope_words(walked.scope)}.")
    if walked.constraints_hit:
        lines.append(f"Constraints that were hit: {'; '.join(walked.constraints_hit)}.")
    if walked.witnesses_reached:
        reached = (f"{witness} (after {steps} steps)" for witness, steps in walked.witnesses_reached.items())
        lines.append(f"Reached on the way: {'; '.join(reached)}.")
    if walked.witnesses_missed:
        lines.append(f"Never reached: {'; '.join(walked.witnesses_missed)}.")
    total = len(walked.steps_fired) + len(walked.steps_never_fired)
    if walked.steps_fired:
        often = ", ".join(f"{step} {times:,}" for step, times in walked.steps_fired.items())
        lines.append(f"How often steps ran ({len(walked.steps_fired)} of {total}): {often}.")
    if walked.steps_never_fired:
        never = f"{len(walked.steps_never_fired)} of {total}"
        lines.append(f"Steps that never ran ({never}): {', '.join(walked.steps_never_fired)}.")
    return [*lines, *_values(walked)]


def _values(walked: Walked) -> list[str]:
    if not walked.values:
        return []
    seen, possible = (sum(getattr(v, part) for v in walked.values) for part in ("seen", "possible"))
    lines = [f"Values that variables took: {seen:,} of {possible:,}, in {len(walked.values)} variables."]
    missing = [v for v in walked.values if v.missing]
    if missing:
        listed = [f"{v.variable} {'/'.join(map(show, v.missing))}" for v in missing[:MOST_LISTED]]
        more = len(missing) - len(listed)
        rest = f"; and of {more} more variables (see -o json)" if more else ""
        lines.append(f"Never taken: {'; '.join(listed)}{rest}.")
    return lines
