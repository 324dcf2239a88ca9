"""The survey of everyday changes: what is violated with each, and with which known changes it goes away.

`everyday.tsv` is what was found: the release, the change, the cluster, how many states the largest search came to, and for each property that is violated
the steps of a shortest counterexample and the changes with which the property holds in that very cluster (`-`: none that are known, `?`: some search was
given up); `nothing` if none is. `python -m tests.survey.everyday` asks what the table has not, and adds a row for each question.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result, Verdict
from podrace.checker.search import check
from podrace.model.environment.objects import ClusterSpec
from podrace.model.history import resolve
from podrace.properties import PROPERTIES
from tests.survey.changes import ACTORS, questions
from tests.survey.explaining import ACTING, EVERYDAY, UNDECIDED, Changes, Explainer, with_changes
from tests.survey.finding import Found, system_of

FILE = Path(__file__).with_name("everyday.tsv")
RELEASES = ("1.36.3", "1.34.4")
MOST_STATES, MOST_PATCHED = 300_000, 1_000_000
NOTHING, NONE = "-", "nothing"

DEAR = ("2 waits, 1 waits above it", "2 bound, 1 waits above it")
"""The clusters in which a pod preempts: they are asked last."""

_ELSEWHERE = (".claims", ".volumes", ".groups", ".admissions", ".taints")

ASKED = [
    name
    for name, prop in PROPERTIES.items()
    if name.startswith("S-") and name != "S-EXIT" and not prop.__module__.endswith(_ELSEWHERE)
]
"""The safety properties that speak of what these clusters have."""


def asked_of(change: str) -> list[str]:
    """The properties that are asked about a change: of somebody else who acts, those about him, too."""
    return [*ASKED, *(ACTORS[change][1] if change in ACTORS else ())]


@dataclass(frozen=True)
class Violation:
    """A property that is violated, in how many steps, and the changes with which it is not. None: there are none that are known."""

    name: str
    steps: int
    changes: Changes | None

    def __str__(self) -> str:
        return f"{self.name}:{self.steps}={NOTHING if self.changes is None else '+'.join(self.changes)}"


@dataclass(frozen=True)
class Row:
    """What was found on a release, with one change in one cluster."""

    release: str
    change: str
    cluster: str
    states: int
    violations: tuple[Violation, ...]

    @property
    def question(self) -> tuple[str, str, str]:
        """What was asked."""
        return self.release, self.change, self.cluster

    @property
    def undecided(self) -> bool:
        """Whether some search for what a violation goes away with was given up."""
        return any(violation.changes == UNDECIDED for violation in self.violations)

    def __str__(self) -> str:
        found = " ".join(map(str, self.violations)) or NONE
        return "\t".join((*self.question, str(self.states), found))


def read() -> list[Row]:
    """The table."""
    return [_parsed(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def _parsed(line: str) -> Row:
    release, change, cluster, states, found = line.split("\t")
    violations = []
    for item in found.split() if found != NONE else ():
        left, _, changes = item.partition("=")
        name, _, steps = left.partition(":")
        chosen = None if changes == NOTHING else tuple(changes.split("+"))
        violations.append(Violation(name, int(steps), chosen))
    return Row(release, change, cluster, int(states), tuple(violations))


def write(rows: Sequence[Row]) -> None:
    """Store the rows in the order of the questions."""
    order = {question: place for place, question in enumerate(all_questions())}
    lines = sorted(rows, key=lambda row: order[row.question])
    FILE.write_text("".join(f"{row}\n" for row in lines), encoding="utf-8")


def all_questions() -> Iterator[tuple[str, str, str]]:
    """Release, change and cluster of each question."""
    for release in RELEASES:
        for change, spec in questions():
            yield release, change, spec.name


def decide(spec: ClusterSpec, release: str, name: str, changes: Changes = ()) -> Result:
    """The verdict on one property, on the release as it is or with changes."""
    system = system_of(spec, with_changes(release, changes), name)
    budget = Budget(max_states=MOST_PATCHED if changes else MOST_STATES)
    (result,) = check(system, [name], budget)
    return result


def ask(release: str, change: str, spec: ClusterSpec, explainer: Explainer) -> Row:
    """One question: every property, on one traced system, and for each violation what it goes away with."""
    names = asked_of(change)
    system = system_of(spec, resolve(release), *names)
    results = check(system, names, Budget(max_states=MOST_STATES))
    violations = []
    for result in results:
        if result.verdict is Verdict.VIOLATED:
            found = Found(release, result.property_id, f"{change}, {spec.name}", spec, result)
            violations.append(Violation(result.property_id, found.steps, explainer.explain(found)))
    return Row(release, change, spec.name, max(r.counts.states or 0 for r in results), tuple(violations))


def _explainer(
    release: str, rows: Sequence[Row], patches: Iterable[str], most: int, *, only_known: bool
) -> Explainer:
    """One that knows what explained the violations of these rows."""
    made = Explainer(release, patches=tuple(patches), most_states=most, only_known=only_known)
    for row in rows:
        for violation in row.violations:
            if row.release == release and violation.changes not in (None, UNDECIDED):
                known = made.successes.setdefault(violation.name, [])
                assert violation.changes is not None
                if violation.changes not in known:
                    known.append(violation.changes)
    return made


def main() -> None:
    """Ask what the table has not, until that is all, or the time is over."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--release", choices=RELEASES, action="append")
    options.add_argument("--change", action="append", help="ask about this one alone")
    options.add_argument("--seconds", type=float, default=float("inf"), help="begin no question after that")
    options.add_argument("--again", action="store_true", help="forget the table of these releases first")
    options.add_argument("--undecided", action="store_true", help="ask again where a search was given up")
    options.add_argument(
        "--patched", type=int, default=MOST_PATCHED, help="the most states of a search with changes"
    )
    options.add_argument("--known", action="store_true", help="try only sets that removed other violations")
    given = options.parse_args()
    releases, end = given.release or list(RELEASES), time.monotonic() + given.seconds
    rows = [
        row
        for row in read()
        if not (row.release in releases and (given.again or (given.undecided and row.undecided)))
    ]
    for release in releases:
        usual, acting = (
            _explainer(release, rows, some, given.patched, only_known=given.known)
            for some in (EVERYDAY, (*EVERYDAY, *ACTING))
        )
        for change, spec in sorted(questions(), key=lambda question: question[1].name in DEAR):
            there = (release, change, spec.name) in {row.question for row in rows}
            if there or (given.change and change not in given.change):
                continue
            if time.monotonic() > end:
                return
            begun = time.process_time()
            rows.append(ask(release, change, spec, acting if change in ACTORS else usual))
            write(rows)
            print(f"{time.process_time() - begun:6.1f} s  {rows[-1]}".expandtabs(2), flush=True)


if __name__ == "__main__":
    main()
