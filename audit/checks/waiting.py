"""A-FLUSH: no pod's wait ends only because the queue's flush takes it, after five minutes; and what a log without the scheduler's log shows of it."""

import re
from collections.abc import Sequence

from ...base.structs import Data
from ...reports.audit_report import Hit
from ..history.objects import BEFORE, PodHistory
from ..reading import scheduler_log
from ..reading.records import Attempt, Pod, Write
from .check import Check, Found, Trust, at

MINUTE = 60_000_000
FIVE_MINUTES = 5 * MINUTE
"""So long a pod is parked before the flush takes it; one minute up to 1.22 (scheduling_queue.go of 1.22.17 and 1.29.14)."""

PERIOD = 30_000_000
"""The flush runs so often."""

MOST_SIGNS = 100
MOST_LATE = 10_000

SINCE = 24
GROUPS_SINCE = 37
"""Before, each pod of a group was parked by itself (scheduling_queue.go of 1.36.4)."""

UNKNOWN = 1000
"""The release of a sender that names none: it may have groups, and may park pods for as short a time as any release does."""

_AGENT = re.compile(r"[^/]{1,100}/v1\.([0-9]{1,3})[^0-9]", re.ASCII)


class _Late(Data):
    """A Binding that came so long after the creation of the pod that the flush may have taken it, which parks for so long."""

    pod: str
    begin: int
    end: int
    parked: int
    why: str


WAITED = (
    "a pod was bound long enough after its creation for the flush to have taken it; the scheduler's log at -v=5 would tell, with its writer's name, "
    "as by kubectl logs --prefix"
)
OF_A_GROUP = "a pod of a group was bound, and the flush may have taken it with its group, which may have been parked before there was the pod: nothing tells"
MAY_BE_OF_A_GROUP = (
    "a pod was bound of which the log has no body: from 1.37 on it may be of a group, which the flush may have taken; "
    "log the creation of pods at the level RequestResponse"
)


class _Queued:
    """A pod that is not bound, as logs show it. Each log is that of one scheduler, or a part of it. A standby scheduler has its own queue and takes nothing from it.

    Lines that do not name their writer may be about several queues. A standby is notified of new pods, and no attempt of it fails. An Event belongs to no log, and
    anybody may send it: it ends a flush, and shows nothing else. A pod that is new to a queue, after that queue was notified that a pod of this
    name is gone, is another pod, in the lines of any writer.
    """

    def __init__(self) -> None:
        self._flushed: dict[str, int] = {}
        self._tried: set[str] = set()
        self._otherwise: dict[str, int] = {}
        self._known: set[str] = set()
        self._gone: set[str] = set()

    def take(self, attempt: Attempt) -> None:
        """Note what a line says."""
        log, what = attempt.log, attempt.what
        if what == scheduler_log.MOVED and attempt.event == scheduler_log.FLUSH:
            self._flushed[log] = attempt.time
            self._tried.discard(log)
            self._gone.discard(log)
            self._otherwise.pop(log, None)
        elif what == scheduler_log.GONE:
            self._gone.add(log)
        elif what == scheduler_log.TRIED:
            # The attempt before this one has failed, whatever is not logged of it.
            if log in self._tried:
                self._flushed.pop(log, None)
            self._tried.add(log)
        elif what in (scheduler_log.FAILED, scheduler_log.ADDED, scheduler_log.PARKED) or (
            what == scheduler_log.MOVED and attempt.event != scheduler_log.BACKED_OFF
        ):
            if log and what != scheduler_log.PARKED:
                self._known.add(log)
            if not attempt.named and (what == scheduler_log.ADDED or attempt.event in scheduler_log.NEW):
                if log in self._gone:
                    self._flushed.pop(log, None)
                return
            for one in [log] if log else list(self._flushed):
                self._flushed.pop(one, None)
            if log and (what == scheduler_log.FAILED or (attempt.named and what != scheduler_log.PARKED)):
                self._otherwise[log] = attempt.time

    def flush_before(self, log: str) -> int | None:
        """Time of the last flush that took the pod before the attempt that bound it, in this log; if this log did not have the pod, in any log."""
        if log in self._known or log in self._flushed:
            return self._flushed.get(log)
        return max(self._flushed.values(), default=None)

    def otherwise_before(self, log: str) -> int | None:
        """Time of the last failed attempt in this log, since the last flush; or when the pod was added, or moved by something else, if the log names its writer."""
        return self._otherwise.get(log)


class Waiting(Check):
    """An event that should have moved the pod was lost, or came too early: the race's most common trace.

    A pod that was bound within five minutes of its creation cannot have been flushed. The same holds if the scheduler's log says that an attempt failed within these
    minutes, or, where the log names its writer, that something else moved the pod. It does not hold for a pod of a group, whose group may have been parked for some
    time (addToPodGroupIfExists, 1.37), nor for a pod whose specification nothing shows, as it may be of a group.
    """

    id = "A-FLUSH"
    sentence = "No pod is scheduled only after the periodic flush took it out of the parked pods."

    kinds = ("pods", "pods/binding")
    in_one_line = True

    def __init__(self, attempts: Sequence[Attempt], flushed: float | None) -> None:
        super().__init__()
        self.attempts, self.flushed = attempts, flushed
        self.signs: list[str] = []
        self._failed: dict[PodHistory, int] = {}
        self._late: list[_Late] = []
        self._grouped: set[PodHistory] = set()
        self._members: set[str] = set()

    def seen(self, pod: PodHistory, body: Pod, write: Write | None) -> None:
        """Note when an attempt failed last, and how long afterwards the pod was bound."""
        if body.spec.schedulingGroup is not None:
            self._grouped.add(pod)
            self._members.add(pod.key)
        if pod.gone:
            self._failed.pop(pod, None)
            self._grouped.discard(pod)
        elif write is not None and write.sub == "status" and not body.spec.nodeName:
            if any(
                c.type == "PodScheduled" and c.reason == "Unschedulable" for c in body.status.conditions or ()
            ):
                self._failed[pod] = write.end

    def wrote(self, write: Write, pod: PodHistory | None) -> None:
        """A Binding ends the wait."""
        if pod is None or write.refused or not write.of_binding:
            return
        parked, why = _parked(write.agent), WAITED
        if pod in self._grouped:
            parked, why = 0, OF_A_GROUP
        elif not pod.known and _release(write.agent) >= GROUPS_SINCE:
            parked, why = 0, MAY_BE_OF_A_GROUP
        if write.end - pod.born >= parked:
            late = _Late(pod.key, write.begin, write.end, parked, why)
            if len(self._late) < MOST_LATE:
                self._late.append(late)
            else:
                self._leave_late(late)
        failed = self._failed.pop(pod, None)
        waited = write.begin - failed if failed is not None else 0
        if FIVE_MINUTES <= waited <= FIVE_MINUTES + PERIOD + 5_000_000 and len(self.signs) < MOST_SIGNS:
            self.signs.append(
                f"{at(write.begin)}: {pod.key} is bound {waited / 60_000_000:.1f} minutes after its last attempt failed: as if the "
                "periodic flush had ended its wait (from 1.37 on the metric scheduler_pod_scheduled_after_flush_total says so)"
            )

    def found(self, trust: Trust) -> list[Found]:
        """What the scheduler's log says; the metric alone knows a number, and no pod."""
        found = []
        pods: dict[str, _Queued] = {}
        bound: dict[str, list[tuple[int, int]]] = {late.pod: [] for late in self._late}
        # A line may have been collected twice.
        at_once: set[tuple[str, ...]] = set()
        time = BEFORE
        nodes: dict[str, str] = {}
        told_of: set[str] = set()
        for attempt in sorted(self.attempts, key=lambda a: a.time):
            if attempt.time > time:
                at_once.clear()
                time = attempt.time
            told = (attempt.pod, attempt.what, attempt.event, attempt.node, attempt.log)
            if told in at_once:
                continue
            at_once.add(told)
            if attempt.what == scheduler_log.COUNTED:
                if attempt.pod in self._members:
                    self._leave_counted(attempt.pod)
                elif attempt.pod not in told_of:
                    told_of.add(attempt.pod)
                    words = f"{attempt.pod} was taken by the flush, as the scheduler says, and the next attempt bound it"
                    node = nodes.get(attempt.pod, "")
                    found.append(Found(attempt.time, Hit(at(attempt.time), words, (attempt.pod,), node)))
                continue
            if attempt.what == scheduler_log.GONE and attempt.pod not in pods:
                continue  # it was bound
            queued = pods.setdefault(attempt.pod, _Queued())
            if attempt.what != scheduler_log.BOUND:
                queued.take(attempt)
                continue
            since = queued.flush_before(attempt.log)
            otherwise = queued.otherwise_before(attempt.log)
            nodes[attempt.pod] = attempt.node
            (told_of.discard if since is None else told_of.add)(attempt.pod)
            if since is not None:
                words = f"{attempt.pod} was taken by the flush at {at(since)}, and the next attempt bound it"
                found.append(Found(attempt.time, Hit(at(attempt.time), words, (attempt.pod,), attempt.node)))
            elif otherwise is not None and attempt.pod in bound:
                bound[attempt.pod].append((attempt.time, otherwise))
            del pods[attempt.pod]
        for late in self._late:
            if not any(_is_told(late, *binding) for binding in bound[late.pod]):
                self._leave_late(late)
        if not found and self.flushed and self._members:
            self._leave_counted()
        elif not found and self.flushed:
            # Since its process began, and nobody says when: so it is asked only about all that there is.
            words = f"the scheduler counts {self.flushed:g} pods that were scheduled after a flush, and does not say which"
            found.append(Found(BEFORE, Hit("by the metrics", words)))
        return found

    def _leave_counted(self, pod: str = "") -> None:
        """A pod that was flushed with its group keeps the mark when the attempt fails (AddAttemptedPodGroupIfNeeded, 1.37)."""
        self.leave_open(
            "the scheduler counts a pod as bound after a flush, and may do so of one of a group whose flush was long before",
            pod,
        )

    def _leave_late(self, late: _Late) -> None:
        self.leave_open(late.why, late.pod)


def _is_told(late: _Late, bound: int, otherwise: int) -> bool:
    """Whether the scheduler's log has this Binding, and says that it was not the flush that took the pod for it: that otherwise came too short a time before it."""
    return late.begin - MINUTE <= bound <= late.end + MINUTE and bound - otherwise < late.parked


def _parked(agent: str) -> int:
    """How long the sender of a Binding parks a pod at least before its flush takes it, unless it was told otherwise."""
    return FIVE_MINUTES if SINCE <= _release(agent) < UNKNOWN else MINUTE


def _release(agent: str) -> int:
    """The number that the sender of a Binding gives of its release."""
    match = _AGENT.match(agent)
    return int(match[1]) if match else UNKNOWN
