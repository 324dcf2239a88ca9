"""How much time passes before each step of a run, so that the timers of the real queue fire where the model has them fire.

The model has order only: a backoff ends whenever `flush_backoff` is taken. The real queue counts:

- A pod that comes back after n failures backs off for 1, 2, 4, 8, then 10 s. Up to 1.33 n is the number of its attempts, from 1.34 on that of
  its rejections, or of the errors since the last of them. The longest backoff of a group's entry is that of a pod times the root of the number of its
  pods (calculateBackoffDuration). A flush each second takes every pod whose backoff is over.
- From 1.33 on (SchedulerPopFromBackoffQ) backoffs end, and flushes come, at whole seconds of the clock: a pod that was requeued in second w
  and backs off for d is taken in second w + d + 1, and until then it is backing off. An idle scheduler takes the pod whose backoff
  ends first, and of those that end in one second the one that activeQ would have first.
- Every 30 s each pod that was parked for longer than 5 minutes is moved; its backoff is over, so it goes to activeQ at once. A pod that is held back all the same is
  tried with the next flush, and where the flush asks them at all (139162) after 5 minutes more, for the flush notes its time (FlushTimestamp).

A step happens at the moment `second * 1000 + number` in milliseconds since the first wait began; the queue was started 30 s before, and is started
anew with the second after a restart. So no timer fires amid a step, and what matters of a moment is its second: the
conditions are difference constraints, and multiples of 30 s that follow from the least solution so far. Where they
contradict one another, the run cannot happen at any durations: the model's timers may fire at any moment (A-DURATIONS), and it keeps a pod
in backoffQ for as long as it likes (A-BACKOFF). Without windows a pod that is moved in the very second in which its backoff ends counts as through:
this leaves out what would depend on milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

from ...base.structs import Data
from ...checker.trace.execution import replay
from ...model.environment.objects import Pod, PodGroup
from ...model.history import Composition, version_of
from ...model.language import State, Transition, TransitionSystem
from ...model.scheduler.podgroups.pod_group_cycle import GroupStatus
from ...reports.reproduction import Differing
from .durations import Bound, Contradiction, earliest
from .gang_waits import GangWaits
from .long_steps import LongSteps
from .queue_states import ACTIVE, BACKOFF, EXITS, NONE, PARKED, POPS, UPDATES, QueueStates, pod_of, taken_out

MOST_STEPS = 900
"""Steps of a run that is to have moments: each takes a millisecond, and they must fit into a second."""

FLUSH_EVERY = 30
PARKED_FLUSHES = 11
"""Number of flushes after which a parked pod has waited more than five minutes."""

SHORTEST_BACKOFF, LONGEST_BACKOFF = 1_000, 10_000
"""In milliseconds."""

LISTED_WITHIN = (2, 4, 7, 13, 26)
"""In how many seconds an informer has listed whose watch was interrupted for the first, second, ... time (client-go's reflector backs off for 0.8 s, doubled each
time, and up to twice that)."""

FLUSHES = (("queue", "flush_backoff"), ("queue", "flush_unschedulable"))
STORES = (("pod_watch", "store"), *UPDATES, ("handlers", "handle_for_cache"), EXITS)
FINISHES = ("pod_group_cycle", "finish")
INTERRUPTION, NODE_INTERRUPTION = ("pod_watch", "resume"), ("node_watch", "resume")
LISTS = {INTERRUPTION: STORES, NODE_INTERRUPTION: (("node_watch", "store"), ("handlers", "handle_node"))}
"""The interruptions of watches, each with the steps of which the next is the first that needs the list."""


class Untimely(Exception):
    """No durations let the run happen up to this step, which is counted from 1. `why` is one line."""

    def __init__(self, step: int, why: str) -> None:
        self.step, self.why = step, why
        super().__init__(f"step {step}: {why}")


class Rules(Data):
    """How the queue of a version counts. `windows`: backoffs end at whole seconds. `failures`: not attempts are counted.

    `again`: a pod that a flush does not move is due five minutes later, and not with the next flush.
    """

    windows: bool
    failures: bool
    again: bool


def rules_of(composition: Composition) -> Rules:
    """The rules of a composition's release and gates."""
    missing = {change.key for change in composition.missing}
    late = version_of(composition.release) >= version_of("1.34")
    return Rules("pop-from-backoff" not in missing, late, late and "139162" not in missing)


class Timing(Data):
    """`waits`: milliseconds before each step. `ahead`: after each step, the pods that the model still has in backoffQ and that the real
    queue has in activeQ already, because one flush takes all pods that are due. `flushed`: of each pod that is parked in the end, in how many seconds it is flushed.
    """

    waits: tuple[int, ...] = ()
    ahead: tuple[frozenset[str], ...] = ()
    flushed: Mapping[str, int] = field(default_factory=dict)

    def may_be_ahead(self, number: int, difference: Differing) -> bool:
        """Whether a flush took a pod earlier than the model says, along with others. Steps are counted from 0."""
        ahead = self.ahead[number] if number < len(self.ahead) else frozenset()
        places = {f"queue.sub_queue[{pod}]" for pod in ahead}
        return difference.variable in places and (difference.model, difference.real) == ("BACKOFF", "ACTIVE")


NO_WAITS = Timing()
"""That of a run about which nothing is known."""


class _Record(Data):
    """What a QueuedPodInfo counts. It was stamped at step `stamp`; if parked it is due in flush number `due` after step `parked`.

    `through`: in backoffQ for the model, while the real queue has put it into activeQ, because its backoff was over. `size`: the number of pods that came back in the entry.
    """

    stamp: int
    parked: int
    due: int = PARKED_FLUSHES
    attempts: int = 0
    rejections: int = 0
    errors: int = 0
    through: bool = False
    size: int = 1

    def backoff(self, rules: Rules) -> int:
        """In how many seconds its backoff ends; none for a pod that has not failed yet, where failures are counted. A step's number is the millisecond in which it happens."""
        count = (self.errors or self.rejections) if rules.failures else self.attempts
        if rules.failures and not count:
            return 0
        longest = int(LONGEST_BACKOFF * self.size**0.5)
        return (min(SHORTEST_BACKOFF << max(count - 1, 0), longest) + self.stamp) // 1000

    def came_back(self, step: int, rejected: bool, size: int = 1) -> _Record:
        """The record of an attempt that failed at this step."""
        counted = (self.rejections + 1, 0) if rejected else (self.rejections, self.errors + 1)
        return _Record(
            step, step, attempts=self.attempts, rejections=counted[0], errors=counted[1], size=size
        )


class _Flush(Data):
    """At `step` the flush of the parked pods has (or has not) come that is number `due` after the one before `parked`.

    Flushes are counted from `start`, the step at which the queue was started.
    """

    step: int
    parked: int
    due: int
    start: int
    has_come: bool
    why: str

    def bound(self) -> Bound:
        """What follows whatever the second."""
        if self.has_come:
            return Bound(self.step, self.parked, FLUSH_EVERY * (self.due - 1) + 1, self.why)
        return Bound(self.parked, self.step, 1 - FLUSH_EVERY * self.due, self.why)

    def number(self, at: int, moments: Sequence[int]) -> int:
        """How many flushes have come when a step happens; it may have happened before the queue was started."""
        return (moments[at] - moments[self.start] - self.delay) // FLUSH_EVERY

    @property
    def delay(self) -> int:
        """When the queue's timers begin, in seconds after the step that started it."""
        return 1 if self.start else 0

    def left(self, moments: Sequence[int]) -> int:
        """In how many seconds after the step it comes."""
        due = FLUSH_EVERY * (self.number(self.parked, moments) + self.due)
        return moments[self.start] + self.delay + due - moments[self.step]

    def correction(self, moments: Sequence[int]) -> Bound | None:
        """What follows from the least moments, where they do not satisfy this."""
        parked, now = self.number(self.parked, moments), self.number(self.step, moments)
        if self.has_come and now < parked + self.due:
            return Bound(self.step, self.start, FLUSH_EVERY * (parked + self.due) + self.delay, self.why)
        if not self.has_come and now >= parked + self.due:
            return Bound(self.parked, self.start, FLUSH_EVERY * (now - self.due + 1) + self.delay, self.why)
        return None


@dataclass(slots=True)
class _Conditions:
    bounds: list[Bound] = field(default_factory=list)
    flushes: list[_Flush] = field(default_factory=list)
    corrections: list[Bound] = field(default_factory=list)

    def hold(self, moments: Sequence[int]) -> bool:
        """Whether these moments satisfy the conditions."""
        met = all(moments[b.later] >= moments[b.earlier] + b.least for b in self.bounds)
        return met and all(f.correction(moments) is None for f in self.flushes)

    def and_then(self, more: _Conditions) -> _Conditions:
        """These and more."""
        return _Conditions(
            [*self.bounds, *more.bounds], [*self.flushes, *more.flushes], list(self.corrections)
        )


def _solved(moments: int, conditions: _Conditions) -> list[int]:
    """The least moments. Raises Contradiction."""
    fixed = [*conditions.bounds, *(f.bound() for f in conditions.flushes)]
    corrections = conditions.corrections
    longest = (moments + 1) * FLUSH_EVERY * (PARKED_FLUSHES + 1)
    before: list[Bound] = []
    while True:
        found = earliest(moments, [*fixed, *corrections])
        more = [bound for f in conditions.flushes if (bound := f.correction(found)) is not None]
        if not more:
            return found
        if found[-1] > longest:
            raise Contradiction([*before, *more])
        corrections += more
        before = more


class Timetable:
    """The moments of a run that grows step by step.

    With `together`, one flush may take the pods of several steps that flush one after the other.
    """

    def __init__(self, system: TransitionSystem, composition: Composition, together: bool = False) -> None:
        self.rules, self._together = rules_of(composition), together
        self._queue = QueueStates(system)
        missing = {change.key for change in composition.missing}
        self._long, self._lasted = LongSteps(system), 0
        self._gangs = GangWaits(system, shared="136618" in missing)
        # The pods of the beginning were added before the queue was started, which was one flush before the first wait.
        first = _Record(0, 0, PARKED_FLUSHES - 2)
        self._records = {p: first for p in self._queue.pods if self._queue.of(p, system.initial) != NONE}
        self._flying: dict[Pod, list[_Record]] = {}
        self._entries: dict[PodGroup, _Record] = {}  # as they were popped last
        incomplete = (p for p in self._queue.pods if self._queue.is_incomplete(p, system.initial))
        self._aside = dict.fromkeys(incomplete, first)  # who waits for its group, with its own record
        self._start = 0
        self._interrupted = dict.fromkeys(LISTS, 0)
        self._interruptions = dict.fromkeys(LISTS, 0)
        self._conditions = _Conditions()
        self._backing_off: list[dict[str, _Record]] = []
        self._state = system.initial
        self.moments = [0]

    def for_another(self) -> Timetable:
        """A table of another run, which has come as far as this one."""
        found = copy(self)
        found._gangs = self._gangs.for_another()
        found._records, found._entries, found._aside = (
            dict(self._records),
            dict(self._entries),
            dict(self._aside),
        )
        found._flying = {pod: list(records) for pod, records in self._flying.items()}
        found._interrupted, found._interruptions = dict(self._interrupted), dict(self._interruptions)
        found._conditions = self._conditions.and_then(_Conditions())
        found._backing_off, found.moments = list(self._backing_off), list(self.moments)
        return found

    def take(self, transition: Transition, before: State, after: State) -> bool:
        """Go on by a step if durations allow for it, and say whether they do."""
        try:
            self.go(transition, before, after)
        except Untimely:
            return False
        return True

    def go(
        self, transition: Transition, before: State, after: State, later: Sequence[Transition] = ()
    ) -> None:
        """Go on by a step; `later` are those that follow. Raises Untimely, and stays where it is, if no durations allow for it."""
        number = len(self.moments)
        if number > MOST_STEPS:
            raise Untimely(number, f"a run of more than {MOST_STEPS} steps is too long to be given moments")
        more = self._conditions_of(number, transition, before, after, later)
        moments = [*self.moments, self.moments[-1]]
        conditions = self._conditions.and_then(more)
        if not more.hold(moments):
            try:
                moments = _solved(number + 1, conditions)
            except Contradiction as problem:
                raise Untimely(number, "; ".join(problem.reasons)) from None
        self._conditions, self.moments, self._state = conditions, moments, after
        self._record(number, transition, before, after)
        self._gangs.go(number, before, after)
        self._lasted = self._long.seconds(transition, before)
        self._backing_off.append(
            {p.name: r for p, r in self._records.items() if self._queue.of(p, after) == BACKOFF}
        )

    def _conditions_of(
        self, number: int, transition: Transition, before: State, after: State, later: Sequence[Transition]
    ) -> _Conditions:
        found = _Conditions()
        if self._lasted:
            why = f"step {number - 1} lasts for {self._lasted} s"
            found.bounds.append(Bound(number, number - 1, self._lasted, why))
        found.bounds.extend(self._gangs.bounds(number, before))
        if self._start and number == self._start + 1:
            found.bounds.append(Bound(number, self._start, 1, "a restart takes until the next second"))
        for interruption, stores in LISTS.items():
            since = self._interrupted[interruption]
            if since and (transition.part, transition.step) in stores:
                times = min(self._interruptions[interruption], len(LISTED_WITHIN))
                why = f"the list after step {since} comes within {LISTED_WITHIN[times - 1]} s"
                found.bounds.append(Bound(number, since, LISTED_WITHIN[times - 1], why))
        pod = pod_of(transition)
        heirs = self._queue.heirs(transition, before, after)
        backoffs, parkings = (
            [self._queue.first_of_entry(p, before) for p in _flushed(name, transition, later)]
            for name in FLUSHES
        )
        for p, r in self._records.items():
            if self._queue.first_of_entry(p, before) is not p:
                continue
            sub_queue, seconds = self._queue.of(p, before), r.backoff(self.rules)
            if sub_queue == BACKOFF and r.through:
                self._refuse_displaced(number, p, before, after)
            elif sub_queue == BACKOFF:
                self._add_backoff(found, number, p, r, backoffs)
            elif sub_queue == PARKED:
                if p not in parkings[1:] or not self._together:
                    found.flushes.append(_flush(number, p, r, self._start, p in parkings[:1]))
                moved = self._queue.of(heirs.get(p, p), after) == BACKOFF
                if moved and seconds and p not in parkings:
                    why = f"{p.name} is moved at step {number} while its backoff of {seconds} s from step {r.stamp} lasts"
                    left = seconds if self.rules.windows else seconds - 1
                    found.bounds.append(Bound(r.stamp, number, -left, why))
        if pod is not None and pod in self._records and transition.step in POPS:
            self._add_pop(found, number, pod, before)
        return found

    def _add_backoff(
        self, found: _Conditions, number: int, pod: Pod, record: _Record, flushed: Sequence[Pod]
    ) -> None:
        seconds = record.backoff(self.rules)
        of = f"the backoff of {seconds} s that {pod.name} began at step {record.stamp}"
        if pod in flushed[:1]:
            found.bounds.append(Bound(number, record.stamp, seconds + 1, f"{of} is over at step {number}"))
        elif pod not in flushed or not self._together:
            found.bounds.append(Bound(record.stamp, number, -seconds, f"{of} lasts beyond step {number}"))

    def _refuse_displaced(self, number: int, pod: Pod, before: State, after: State) -> None:
        """A pod that the real queue has in activeQ already makes way there for another pod of its name; in the model both stay, one of them in backoffQ (1.37)."""
        queue = self._queue
        if queue.of(pod, after) != BACKOFF:
            return
        for other in queue.pods:
            comes = queue.of(other, after) == ACTIVE != queue.of(other, before)
            if other is not pod and comes and queue.share_name(other, pod):
                why = f"{other.name} enters activeQ at step {number}, where {pod.name} is already, whose backoff is over"
                raise Untimely(number, why)

    def _add_pop(self, found: _Conditions, number: int, pod: Pod, before: State) -> None:
        """Which of the pods Pop takes is a matter of what the real queue has in activeQ, and of when backoffs end."""
        record = self._records[pod]
        early = self._queue.of(pod, before) == BACKOFF and not record.through
        for q, r in self._records.items():
            if q is pod or self._queue.of(q, before) != BACKOFF or self._queue.share_entry(pod, q):
                continue
            first = self._queue.precedes(pod, q, before)
            if r.through and (early or not first):
                why = f"{q.name} is in activeQ by then, since its backoff was over when it was moved, and is popped before {pod.name}"
                raise Untimely(number, why)
            if early and not r.through and self._queue.is_rejected(q, before):
                ends = record.backoff(self.rules) - r.backoff(self.rules)
                why = f"{pod.name}, popped from backoffQ at step {number}, is through earlier than {q.name}"
                found.bounds.append(Bound(r.stamp, record.stamp, ends + (0 if first else 1), why))

    def _record(self, number: int, transition: Transition, before: State, after: State) -> None:
        """What the step does to the queue's records."""
        if self._queue.starts_anew(transition, before, after):
            there = (p for p in self._queue.pods if self._queue.of(p, after) != NONE)
            self._records = {p: _Record(number, number) for p in there}
            self._flying, self._start = {}, number
            self._interrupted = dict.fromkeys(LISTS, 0)
            self._interruptions = dict.fromkeys(LISTS, 0)
            return
        name = (transition.part, transition.step)
        for interruption, stores in LISTS.items():
            if name in stores:
                self._interrupted[interruption] = 0
        if name in LISTS:
            self._interrupted[name] = number
            self._interruptions[name] += 1
        heirs = self._queue.heirs(transition, before, after)
        handed_over = {heir: self._records.pop(p) for p, heir in heirs.items()}
        for p, record in handed_over.items():
            through = record.through and self._queue.of(p, after) == BACKOFF
            self._records[p] = replace(record, through=through)
        for p in self._queue.pods:
            if p not in heirs and p not in handed_over:
                self._record_of(p, number, transition, before, after)

    def _record_of(self, p: Pod, number: int, transition: Transition, before: State, after: State) -> None:
        """What the step does to the record of a pod that keeps its own."""
        pod = pod_of(transition)
        if self._queue.is_incomplete(p, after) and not self._queue.is_incomplete(p, before):
            self._aside[p] = _Record(number, number)
        old, new = self._queue.of(p, before), self._queue.of(p, after)
        is_flush = (transition.part, transition.step) == FLUSHES[1]
        flushed = is_flush and pod is not None and self._queue.share_entry(pod, p)
        if old == new:
            if p is pod and self._queue.is_refused(transition, before, after):
                self._flying[p] = self._flying.get(p, [])[1:]
            if flushed and old == PARKED:
                due = PARKED_FLUSHES if self.rules.again else 1
                self._records[p] = replace(self._records[p], parked=number, due=due)
        elif self._queue.group_of(p) is not None and NONE in (old, new):
            self._record_of_member(p, number, transition, before, after)
        elif new == NONE:
            record = self._records.pop(p)
            if p is taken_out(transition) and not self._queue.is_in_flight(p, before):
                earlier = self._flying.get(p, []) if self._queue.is_tried(p, before) else []
                self._flying[p] = [*earlier, replace(record, attempts=record.attempts + 1, through=False)]
        elif old == NONE:
            self._records[p] = _Record(number, number)
            if pod is None or transition.part != "failure" or not self._queue.share_name(p, pod):
                return
            if flights := self._flying.get(pod):
                rejected = self._queue.is_rejected(pod, before)
                self._records[p] = flights.pop(0).came_back(number, rejected)
        else:
            record = self._records[p]
            if flushed and self.rules.again:
                record = replace(record, parked=number, due=PARKED_FLUSHES)
            over = flushed or not record.backoff(self.rules)
            self._records[p] = replace(record, through=over and new == BACKOFF)

    def _record_of_member(
        self, p: Pod, number: int, transition: Transition, before: State, after: State
    ) -> None:
        """What a step does to the record of a member that comes into the entry of its group, or leaves it: it is that of the entry."""
        group, popped = self._queue.group_of(p), taken_out(transition)
        assert group is not None
        if self._queue.of(p, before) != NONE:
            record = self._records.pop(p)
            if popped is not None and self._queue.group_of(popped) is group:
                self._entries[group] = record
            return
        others = [q for q in self._queue.pods if q is not p and self._queue.share_entry(p, q)]
        there = [q for q in others if self._queue.of(q, before) != NONE]
        found = _Record(number, number)
        if there:
            found = self._records[there[0]]
        elif self._queue.is_incomplete(p, before):
            found = self._founded(p, number)
        elif (transition.part, transition.step) == FINISHES and group in self._entries:
            status = self._queue.status_of_group(before)
            if status is not GroupStatus.SCHEDULABLE:
                size = sum(self._queue.of(q, after) != NONE for q in (p, *others))
                found = self._entries[group].came_back(number, status is not GroupStatus.ERROR, size)
        self._records[p] = found

    def _founded(self, pod: Pod, number: int) -> _Record:
        """The record of an entry that a pod founds in this step, once its group is known. It has waited since the pod came, and is flushed with the next flush at the earliest.

        How many flushes there were meanwhile is settled from now on.
        """
        aside = self._aside[pod]
        flush = _flush(number, pod, aside, self._start, True)
        passed = flush.number(number, self.moments) - flush.number(aside.parked, self.moments)
        for due, has_come in ((passed, True), (passed + 1, False)):
            condition = _flush(number, pod, replace(aside, due=due), self._start, has_come)
            self._conditions.flushes.append(condition)
        return replace(aside, parked=number, due=max(1, aside.due - passed))

    @property
    def timing(self) -> Timing:
        """The waits for the steps so far."""
        at = self.moments
        waits = tuple(1000 * (b - a) for a, b in pairwise(at))

        def is_ahead(number: int, record: _Record) -> bool:
            return record.through or at[number] > at[record.stamp] + record.backoff(self.rules)

        ahead = (
            frozenset(name for name, record in records.items() if is_ahead(number, record))
            for number, records in enumerate(self._backing_off, 1)
        )
        parked = {p: r for p, r in self._records.items() if self._queue.of(p, self._state) == PARKED}
        flushed = {p.name: _flush(len(at) - 1, p, r, self._start, False).left(at) for p, r in parked.items()}
        return Timing(waits, tuple(ahead), flushed)


def _flush(number: int, pod: Pod, record: _Record, start: int, has_come: bool) -> _Flush:
    flushed = "is flushed at" if has_come else "is not flushed up to"
    why = f"{pod.name}, which waits since step {record.stamp}, {flushed} step {number}"
    return _Flush(number, record.parked, record.due, start, has_come, why)


def _flushed(name: tuple[str, str], transition: Transition, later: Sequence[Transition]) -> list[Pod]:
    """The pods that the steps of this name flush, one after the other from here on."""
    steps = takewhile(lambda t: (t.part, t.step) == name, (transition, *later))
    return [pod for t in steps if (pod := pod_of(t)) is not None]


def timing_of(system: TransitionSystem, path: Sequence[int], composition: Composition) -> Timing:
    """The waits before the steps of a run of `system`, which is the composition's. Raises Untimely, and ReplayError if it is no run."""
    states = replay(system, tuple(path)).states
    steps = [system.transitions[number] for number in path]
    try:
        return _timing(system, steps, states, composition, together=False)
    except Untimely:
        return _timing(system, steps, states, composition, together=True)


def _timing(
    system: TransitionSystem,
    steps: Sequence[Transition],
    states: Sequence[State],
    composition: Composition,
    together: bool,
) -> Timing:
    table = Timetable(system, composition, together)
    for i, step in enumerate(steps):
        table.go(step, states[i], states[i + 1], steps[i + 1 :])
    return table.timing
