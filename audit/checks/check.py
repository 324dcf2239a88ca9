"""What all questions share: whether the log can be trusted to have everything, and how an answer comes about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import msgspec

from ...base.structs import Data
from ...base.text import one_line
from ...reports.audit_report import Answer, Hit
from ..history.history import History, Watcher
from ..history.objects import BEFORE
from ..reading.reading import CLAIMS
from ..reading.records import EVER, time_text
from .cases import Case

MOST_EXAMPLES = 3

RULES: Mapping[str, str] = {
    "bodies of pods": '- level: RequestResponse, verbs: [create, update, patch, delete, deletecollection], resources: [{group: "", resources: ["pods", "pods/status", "pods/resize", "pods/eviction", "pods/ephemeralcontainers"]}]',
    "bodies of Bindings": '- level: Request, verbs: [create], resources: [{group: "", resources: ["pods/binding", "bindings"]}]',
    "bodies of nodes": '- level: RequestResponse, verbs: [create, update, patch, delete, deletecollection], resources: [{group: "", resources: ["nodes", "nodes/status"]}]',
    "bodies of ResourceClaims": '- level: RequestResponse, verbs: [create, update, patch, delete, deletecollection], resources: [{group: "resource.k8s.io", resources: ["resourceclaims", "resourceclaims/status"]}]',
    "bodies of the scheduler's lease": '- level: RequestResponse, verbs: [create, update, patch], resources: [{group: "coordination.k8s.io", resources: ["leases"], resourceNames: ["kube-scheduler"]}]',
}
"""What can be missing, and the rule of an audit policy by which it would be there."""


def _level_of(what: str) -> str:
    """The level of an audit policy at which these bodies are in the log."""
    return RULES[what].partition("level: ")[2].partition(",")[0]


KINDS: Mapping[str, str] = {
    "pods": "bodies of pods",
    "pods/binding": "bodies of Bindings",
    "nodes": "bodies of nodes",
    "pods/status": "bodies of pods",
    CLAIMS: "bodies of ResourceClaims",
}
"""Kinds of writes that a log may have none of at all, and the rule for each."""

_ALSO = {
    "pods/binding": ("bindings",),
    "nodes": ("nodes/status",),
    "pods": ("pods/status",),
    CLAIMS: (f"{CLAIMS}/status",),
}

QUIET = 15_000_000
"""How long a log may be silent at the ends of what is asked about. The holder of the scheduler's lease renews it every two seconds, and loses it after fifteen."""

LONGEST = 2000
"""Names in a log can be forged; so many characters of an answer are enough."""


START = "--initial FILE: what `kubectl get nodes,pods -A -o json` printed when the log began"
WITHIN = "--since and --until within the time that the lines are of"
NAMED = "what the reasons above call unknown"
ORDER = "bodies with resourceVersions, which say in which order requests took effect"


class Trust(Data, slots=False):
    """Whether the log has every write of its period (`complete`), or what speaks against it, and what would close that (`remedies`); and what was not logged.

    `start`: what is not known of the state at its beginning. `kinds` are those of which it has any write. `orders`: nothing speaks against the order of the times.
    `early`: until then the log has lines of before the state that is said to be that at its beginning. `first` and `last`: when its first and its last line were written.
    """

    against: tuple[str, ...]
    start: tuple[str, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    orders: bool = True
    early: int = BEFORE
    first: int = BEFORE
    last: int = EVER
    remedies: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.against


@dataclass
class Found:
    """A violation, and its moment; only those within the period and the namespace that is asked about are reported. `case` says what it comes down to, if the model can be asked."""

    moment: int
    hit: Hit
    case: Callable[[], Case] | None = None


class Check(Watcher):
    """Asks one question of a history."""

    id: ClassVar[str]
    sentence: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = ()
    in_one_line: ClassVar[bool] = False
    """Whether a single line shows a violation, whatever the order of lines."""

    def __init__(self) -> None:
        self.history: History
        self.open: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}
        self.first: Callable[[], Case] | None = None
        self.suspected: set[str] = set()

    def leave_open(self, reason: str, example: str = "") -> None:
        """Note why something cannot be excluded."""
        self.open[reason] += 1
        told = self.examples.setdefault(reason, [])
        if example and len(told) < MOST_EXAMPLES and example not in told:
            told.append(example)

    def suspect(self, reason: str, example: str = "") -> None:
        """Note the same where the log speaks for a violation, and does not show it."""
        self.suspected.add(reason)
        self.leave_open(reason, example)

    def found(self, trust: Trust) -> list[Found]:
        """The violations that are sure, in the order of their times."""
        raise NotImplementedError

    def answer(self, trust: Trust, wanted: Window) -> Answer:
        """What is known in the end."""
        found = sorted(self.found(trust), key=lambda f: f.moment)
        if not self.in_one_line:
            found = [f for f in found if f.moment > trust.early]
        reported = [f for f in found if wanted.has(f)]
        hits = tuple(_shortened(f.hit) for f in reported)
        self.first = reported[0].case if reported else None
        if hits and (trust.orders or self.in_one_line):
            return Answer(self.id, self.sentence, "HIT", hits)
        absent = [kind for kind in self.kinds if not trust.kinds & {kind, *_ALSO.get(kind, ())}]
        outside = [
            f"it was so if the times are right, at {f.hit.time}"
            if hits
            else f"it was so outside of what is asked about, at {f.hit.time}"
            for f in found[:1]
        ]
        none = [f"the log has no write of {kind} at all" for kind in absent]
        early, uncovered = _early(trust, wanted), _uncovered(trust, wanted)
        suspected = self._reasons(True)  # whenever it was: of a part of the log nobody knows
        possible = [*(outside if hits else ()), *(suspected if wanted == Window() else ())]
        others = [*outside, *uncovered, *suspected, *self._reasons(False), *none]
        others += [*self._missing(trust), *trust.start, *early, *trust.against]
        reasons = list(dict.fromkeys([*possible, *others]))
        if not reasons:
            return Answer(self.id, self.sentence, "EXCLUDED")
        lacking = {KINDS[kind] for kind in absent} | {what for what in self.needs if trust.missing.get(what)}
        rules = {what: rule for what, rule in RULES.items() if what in lacking}
        told = tuple(one_line(reason, LONGEST) for reason in reasons)
        decides = self._deciding(trust, rules, outside=bool(early or uncovered))
        return Answer(
            self.id,
            self.sentence,
            "NOT EXCLUDED",
            (),
            told,
            (*rules.values(),),
            told[: len(possible)],
            decides,
        )

    def _deciding(self, trust: Trust, lacking: Iterable[str], outside: bool) -> tuple[str, ...]:
        """What would decide the question: levels of what the log lacks, and more of its time, or its order."""
        levels = (
            f"{what}: log them at level {_level_of(what)} (`podrace audit --policy`)" for what in lacking
        )
        start, within = [START] if trust.start else [], [WITHIN] if outside else []
        named = [NAMED] if self.open.keys() - self.suspected else []
        return (*levels, *start, *within, *trust.remedies, *named) or (ORDER,)

    def _reasons(self, suspected: bool) -> list[str]:
        return [
            f"{reason} ({_times(count)}{': ' if self.examples.get(reason) else ''}{'; '.join(self.examples.get(reason, ()))})"
            for reason, count in self.open.items()
            if (reason in self.suspected) is suspected
        ]

    def _missing(self, trust: Trust) -> list[str]:
        return [
            f"the log lacks {what} ({_times(trust.missing[what])})"
            for what in self.needs
            if trust.missing.get(what)
        ]


def _early(trust: Trust, wanted: Window) -> list[str]:
    if trust.early == BEFORE or (wanted.since is not None and wanted.since > trust.early):
        return []
    return [
        f"the log has lines of before what --initial names: of what was later, ask with --since {at(trust.early + 1000)}"
    ]


def _uncovered(trust: Trust, wanted: Window) -> list[str]:
    """What is asked about, and the log does not cover. That it is complete is said of the time between its first line and its last one."""
    since = trust.first if wanted.since is None else wanted.since
    until = trust.last if wanted.until is None else wanted.until
    if since > trust.last or until < trust.first:
        return [
            f"no line is of what is asked about: the lines are from {at(trust.first)} to {at(trust.last)}"
        ]
    told = []
    if since < trust.first - QUIET:
        told.append(
            f"the lines begin only at {at(trust.first)}: ask about what came after it, with --since {at(trust.first)}"
        )
    if until > trust.last + QUIET:
        told.append(
            f"the lines end at {at(trust.last)}: ask about what came before it, with --until {at(trust.last)}"
        )
    return told


def _shortened(hit: Hit) -> Hit:
    return msgspec.structs.replace(hit, words=one_line(hit.words, LONGEST))


class Window(Data, slots=False):
    """Which violations are asked about."""

    since: int | None = None
    until: int | None = None
    namespace: str | None = None

    def has(self, found: Found) -> bool:
        """Whether this is one of them."""
        late = self.since is None or found.moment >= self.since
        early = self.until is None or found.moment <= self.until
        names = self.namespace is None or any(p.startswith(f"{self.namespace}/") for p in found.hit.pods)
        return late and early and names


def at(moment: int) -> str:
    """The moment, in an answer."""
    return time_text(moment)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names, or the first of them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
