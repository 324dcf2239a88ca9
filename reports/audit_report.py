"""What a log says of scheduling invariants: the document that the forms of `podrace audit` are made of, free of any engine.

Field names are stable: people parse them. Times are RFC 3339 in UTC.
"""

import builtins
from collections.abc import Sequence
from typing import Literal

import msgspec

from ..base.text import counted

MOST_PLACES = 3
"""So many of the lines that were skipped for one reason are named."""

AuditWord = Literal["HIT", "NOT EXCLUDED", "EXCLUDED"]


class Bar(msgspec.Struct, frozen=True):
    """A pod on a node, for a drawing: when it came and left (None: not in the log), and how much it takes, also as Kubernetes writes it (`asks`)."""

    pod: str
    amount: int
    came: str | None = None
    left: str | None = None
    counted: bool = True
    asks: str = ""


class Timeline(msgspec.Struct, frozen=True):
    """What pods took of a resource of a node around a moment at which it was too much; `asked` of what it `has`, as Kubernetes writes amounts."""

    node: str
    resource: str
    allocatable: int
    moment: str
    bars: tuple[Bar, ...] = ()
    asked: str = ""
    has: str = ""


class Hit(msgspec.Struct, frozen=True):
    """A violation: when it was surely so, in words, and with whom. `by`: who did what brought it about, as the log names him.

    `explained` says which known races have a run that agrees with the record, if that was asked; `run` tells the first of these, a line a step.
    """

    time: str
    words: str
    pods: tuple[str, ...] = ()
    node: str = ""
    by: str = ""
    timeline: Timeline | None = None
    explained: tuple[str, ...] = ()
    run: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """What the log says of one property.

    HIT: violated in every order that the log leaves open. EXCLUDED: in none, and everything that could break it is in the log. NOT EXCLUDED:
    anything else, for these `reasons`; `policy` are rules of an audit policy that would have told more. `possible`: those of the reasons that are signs
    of a violation, which some order of the log has; they come first. `decides`: what would close the answer.
    """

    property: str
    sentence: str
    verdict: AuditWord
    hits: tuple[Hit, ...] = ()
    reasons: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()
    decides: tuple[str, ...] = ()

    @builtins.property
    def headline(self) -> str:
        """The verdict as people read it: POSSIBLE where something in the log speaks for a violation, and does not show it."""
        return "POSSIBLE" if self.possible else self.verdict

    @builtins.property
    def words(self) -> str:
        """The first thing to be told."""
        if self.hits:
            more = f", and {len(self.hits) - 1} more" if len(self.hits) > 1 else ""
            return f"{self.hits[0].time}: {self.hits[0].words}{more}"
        return self.reasons[0] if self.reasons else "nothing of the kind happened"


class AuditAccount(msgspec.Struct, frozen=True):
    """What was read. `skipped`: lines that say nothing, by why; `places`: where the first of them are; `levels`: events by resource and level; `writes` were looked at."""

    files: int
    bytes: int
    lines: int
    events: int
    writes: int
    skipped: dict[str, int] = {}
    levels: dict[str, dict[str, int]] = {}
    twice: int = 0
    servers: int = 0
    places: dict[str, list[str]] = {}


class AuditReport(msgspec.Struct, frozen=True):
    """All answers. `signs` are observations that decide nothing, and point at a race."""

    answers: tuple[Answer, ...]
    account: AuditAccount
    since: str | None = None
    until: str | None = None
    signs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


HEADLINES = ("HIT", "POSSIBLE", "NOT EXCLUDED", "EXCLUDED")
"""What answers are, the gravest first."""


def gravest_first(report: AuditReport) -> list[Answer]:
    """The answers in the order in which people want to read them."""
    return sorted(report.answers, key=lambda answer: HEADLINES.index(answer.headline))


def deciding(report: AuditReport) -> dict[str, list[str]]:
    """What would decide open answers, and the properties that wait for it."""
    found: dict[str, list[str]] = {}
    for answer in report.answers:
        for remedy in answer.decides:
            found.setdefault(remedy, []).append(answer.property)
    return found


HIT, EXCLUDED, OPEN = 1, 0, 3


def exit_code(report: AuditReport) -> int:
    """1 something was hit, 0 all is excluded, 3 something is not excluded."""
    words = {answer.verdict for answer in report.answers}
    return HIT if "HIT" in words else OPEN if "NOT EXCLUDED" in words else EXCLUDED


def level_needed(report: AuditReport) -> str:
    """For a log that has no bodies at all: which levels the open answers need; empty for every other log."""
    used = {level for levels in report.account.levels.values() for level in levels}
    if used != {"Metadata"}:
        return ""
    return (
        "Every write in this log is at level Metadata, which has no bodies. The answers need level RequestResponse for pods and nodes, and "
        "Request for Bindings: `podrace audit --policy` prints a policy with these levels."
    )


def account_lines(report: AuditReport) -> Sequence[str]:
    """What was read, in sentences."""
    account = report.account
    period = f", from {report.since} to {report.until}" if report.since else ""
    lines = [
        f"read {counted(account.files, 'file')}: {account.lines:,} lines, {account.events:,} audit events, {account.writes:,} writes looked at{period}"
    ]
    if account.servers > 1:
        lines.append(f"written by {account.servers} API servers")
    if account.twice:
        lines.append(f"{account.twice:,} lines were given twice, and count once")
    for why, count in account.skipped.items():
        places = account.places.get(why, [])
        where = ", ".join([*places[:MOST_PLACES], *(["..."] if places[MOST_PLACES:] else [])])
        lines.append(f"{counted(count, 'line')} skipped: {why}" + (f" ({where})" if where else ""))
    levels = [
        f"{resource} {', '.join(f'{count:,} at {level}' for level, count in sorted(levels.items()))}"
        for resource, levels in account.levels.items()
    ]
    return [*lines, f"writes: {'; '.join(levels)}"] if levels else lines
