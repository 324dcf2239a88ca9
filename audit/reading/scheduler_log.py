"""What the scheduler's log says of pods: klog's text and JSON, and Events of Kubernetes; and the metric that counts the flush."""

import re
from calendar import isleap
from collections.abc import Iterable
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from sys import intern

import msgspec

from ...base.structs import Data
from .prefixes import zoned
from .records import Attempt, moment_of, time_of, time_of_moment

BOUND, FAILED, PREEMPTED, MOVED = "bound", "failed", "preempted", "moved"
TRIED, ADDED, PARKED, GONE, COUNTED = "tried", "added", "parked", "gone", "counted"
"""An attempt began; the pod was new to the queue; something took it out of the parked pods, and it was parked again; it was deleted, or bound; its Binding was counted in FLUSH_METRIC."""

FLUSH = "UnschedulableTimeout"
"""The event by which the queue's flush names itself (framework.EventUnschedulableTimeout)."""

BACKED_OFF = "BackoffComplete"
"""The event by which a pod goes on from backoffQ to activeQ (framework.BackoffComplete)."""

ATTEMPT_FAILED = "ScheduleAttemptFailure"
"""The event by which a pod returns from an attempt (framework.ScheduleAttemptFailure)."""

NEW = frozenset({"PodAdd", "UnscheduledPodAdd", "UnschedulablePodAdd"})
"""The events by which a new pod goes into activeQ, as releases call them (PodAdd, EventUnscheduledPodAdd)."""

UNSCHEDULABLE = "Unschedulable"
"""The queue's name for its parked pods (scheduling_queue.go of 1.28 to 1.36)."""

_SAID = {
    "Successfully bound pod to node": BOUND,
    "Attempting to schedule pod": TRIED,
    "Add event for unscheduled pod": ADDED,
    "Delete event for unscheduled pod": GONE,
    "Unable to schedule pod; no fit; waiting": FAILED,
    "Unable to schedule pod; no nodes are registered to the cluster; waiting": FAILED,
    "Unable to schedule pod, possibly due to node not found; waiting": FAILED,  # up to 1.29
    "Unable to schedule pod belonging to a pod group; waiting": FAILED,  # from 1.36 on
    "Error scheduling pod; retrying": FAILED,
    "Pod scheduled after flush from unschedulableEntities": COUNTED,  # from 1.37 on; 1.36 has such a line, and never writes it
    "Pod moved to an internal scheduling queue": MOVED,
    "Pod moved to an internal scheduling queue because the Pod is updated": MOVED,  # 1.31 to 1.36
    "Pod moved to an internal scheduling queue, because the pod is gated": PARKED,  # from 1.33 on
    "Entity moved to an internal scheduling queue": MOVED,  # from 1.37 on, of pods and groups
    "Entity moved to an internal scheduling queue because the Pod is updated": MOVED,
    "Entity moved to an internal scheduling queue, because it is gated": PARKED,
}
_IN_TEXT = {message.encode(): what for message, what in _SAID.items()}
_KLOG = re.compile(
    rb'[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6})\s+\d+ [^ \]]+:\d+\] "((?:[^"\\]|\\.)*)"(.*)',
    re.DOTALL,
)
_START = re.compile(rb"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} ")
_REST = re.compile(rb"\t| >$|>$|[0-9a-f]{8}  [0-9a-f]{2} ")
"""What goes on with a value of klog's: a line that begins with a tab, as no line of JSON does, the end of these, and bytes as Go dumps them."""

_HEADER = re.compile(
    rb"Log file created at: (\d{4})/(\d\d)/(\d\d) |Running on machine: |Binary: Built with |Log line format: \[IWEF\]"
)
"""With these klog begins a file of its own (--log-dir, up to 1.25)."""

_PAIR = re.compile(rb' ([A-Za-z]+)="((?:[^"\\]|\\.)*)"')
_METRIC = re.compile(
    rb"scheduler_pod_scheduled_after_flush_total(?:\{[^}]*\})?\s+([0-9.eE+]{1,20})\s*(?:[0-9]+)?\s*"
)


class _Name(msgspec.Struct):
    name: str = ""
    namespace: str = ""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class _Message(msgspec.Struct):
    msg: str = ""


class _JsonLine(msgspec.Struct):
    ts: float | str = 0.0
    pod: _Name | str = ""
    entity: _Name | str = ""
    type: str = ""
    node: _Name | str = ""
    event: str = ""
    queue: str = ""


class _Series(msgspec.Struct):
    lastObservedTime: str | None = None


class _Event(msgspec.Struct):
    kind: str = ""
    reason: str = ""
    involvedObject: _Name | None = None
    regarding: _Name | None = None
    lastTimestamp: str | None = None
    firstTimestamp: str | None = None
    eventTime: str | None = None
    series: _Series | None = None
    message: str = ""
    note: str = ""


_MESSAGE, _JSON = msgspec.json.Decoder(_Message), msgspec.json.Decoder(_JsonLine)
_EVENT = msgspec.json.Decoder(_Event)
_REASONS = {"Scheduled": BOUND, "FailedScheduling": FAILED, "Preempted": PREEMPTED}


class Written(Data, slots=False):
    """When a file was written, for klog's lines have no year: not before the day on which it says that it was begun, else not after the one on which it was written last."""

    last: datetime
    begun: datetime | None = None

    def year(self, month: int, day: int) -> int:
        """That of a line."""
        if self.begun is not None:
            found = self.begun.year + ((month, day) < (self.begun.month, self.begun.day))
        else:
            # A clock without a zone may be a day ahead.
            latest = self.last + timedelta(days=1)
            found = latest.year - ((month, day) > (latest.month, latest.day))
        while (month, day) == (2, 29) and not isleap(found):
            found -= 1
        return found


def of_klog(line: bytes, written: Written, passed_on: str = "") -> Attempt | None:
    """What a line of klog's text says; it has neither a year nor a zone, which follow from when it was passed on, if that is known. None if it says nothing of a pod.

    Raises ValueError for a date that there is not.
    """
    # Most lines say something else, and a log has millions.
    start = line.find(b'] "') + len(b'] "')
    said = _IN_TEXT.get(line[start : line.find(b'"', start)])
    match = _KLOG.match(line) if said is not None else None
    if said is None or match is None or match.start(7) != start:
        return None
    pairs = {key.decode(): value.decode("utf-8", "replace") for key, value in _PAIR.findall(match[8])}
    pod = pairs.get("pod") or (pairs.get("entity") if pairs.get("type", "").lower() == "pod" else None)
    if not pod:
        return None
    month, day, hour, minute, second, micro = (int(match[i]) for i in range(1, 7))
    moment = datetime(written.year(month, day), month, day, hour, minute, second, micro, tzinfo=UTC)
    when = time_of(passed_on) if passed_on else None
    guessed = when is None and written.begun is None
    if when is not None:
        moment = zoned(moment, moment_of(when))
    event = pairs.get("event", "")
    what = _what(said, event, pairs.get("queue", ""))
    node = pairs.get("node", "") if what == BOUND else ""
    return Attempt(time_of_moment(moment), pod, what, intern(node), intern(event), guessed)


def _what(said: str, event: str, queue: str) -> str:
    """What became of a pod that was moved."""
    if said != MOVED:
        return said
    if event == ATTEMPT_FAILED:
        return FAILED
    return PARKED if queue == UNSCHEDULABLE else MOVED


def is_klog(line: bytes) -> bool:
    """Whether it is a line of klog's text."""
    return _START.match(line) is not None


def goes_on(line: bytes) -> bool:
    """Whether it is the rest of a value that klog has broken into lines."""
    return _REST.match(line) is not None


def of_header(line: bytes, written: Written) -> Written | None:
    """When the file was written, after a line with which klog begins a file; None if it is none."""
    match = _HEADER.match(line)
    if match is None or match[1] is None:
        return match and written
    try:
        return Written(written.last, datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC))
    except ValueError:
        return None


def of_json(line: bytes) -> Attempt | None:
    """What a line of klog's JSON says; None if it says nothing of a pod. Raises msgspec.MsgspecError."""
    what = _SAID.get(_MESSAGE.decode(line).msg)
    if what is None:
        return None  # other messages have values of other types
    said = _JSON.decode(line)
    named = said.pod or (said.entity if said.type.lower() == "pod" else "")
    pod = named.key if isinstance(named, _Name) else named
    if not pod:
        return None
    node = said.node.name if isinstance(said.node, _Name) else said.node
    time = time_of(said.ts) if isinstance(said.ts, str) else int(said.ts * 1000)
    what = _what(what, said.event, said.queue)
    node = node if what == BOUND else ""
    return None if time is None else Attempt(time, pod, what, intern(node), intern(said.event))


def of_event(data: bytes) -> Attempt | None:
    """What an Event object says; None if it says nothing of scheduling. Raises msgspec.MsgspecError."""
    event = _EVENT.decode(data)
    what, pod = _REASONS.get(event.reason), event.involvedObject or event.regarding
    repeated = event.series.lastObservedTime if event.series else None
    text = repeated or event.lastTimestamp or event.eventTime or event.firstTimestamp
    time = time_of(text) if text else None
    if what is None or pod is None or time is None:
        return None
    return Attempt(time, pod.key, what)


def of_metric(line: bytes) -> float | None:
    """How many pods were scheduled after a flush, if the line says so."""
    match = _METRIC.fullmatch(line)
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


def in_the_year_of(attempts: Iterable[Attempt], first: int, last: int) -> None:
    """Put those of which no line says the year where they are nearest to a period."""
    near = {moment_of(end).year + more for end in (first, last) for more in (-1, 0, 1)}
    years = sorted(year for year in near if MINYEAR <= year <= MAXYEAR)
    for attempt in attempts:
        if not attempt.guessed or first <= attempt.time <= last:
            continue
        moment = moment_of(attempt.time)
        leap = (moment.month, moment.day) == (2, 29)
        times = [time_of_moment(moment.replace(year=y)) for y in years if not leap or isleap(y)]
        attempt.time = min([attempt.time, *times], key=lambda t: max(first - t, t - last, 0))
