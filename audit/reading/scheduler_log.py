"""What the scheduler's log says of pods: klog's text and JSON, and Events of Kubernetes; and the metric that counts the flush."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

from .prefixes import zoned
from .records import Attempt, moment_of, time_of

BOUND, FAILED, PREEMPTED, MOVED = "bound", "failed", "preempted", "moved"

FLUSH = "UnschedulableTimeout"
"""The event by which the queue's flush names itself (framework.EventUnschedulableTimeout)."""

BACKED_OFF = "BackoffComplete"
"""The event by which a pod goes on from backoffQ to activeQ (framework.BackoffComplete)."""

FLUSH_METRIC = "scheduler_pod_scheduled_after_flush_total"

_SAID = {
    "Successfully bound pod to node": BOUND,
    "Unable to schedule pod; no fit; waiting": FAILED,
    "Pod moved to an internal scheduling queue": MOVED,
    "Entity moved to an internal scheduling queue": MOVED,  # from 1.37 on, of pods and groups
}
_KLOG = re.compile(
    rb'[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6})\s+\d+ [^ \]]+:\d+\] "((?:[^"\\]|\\.)*)"(.*)',
    re.DOTALL,
)
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


class _JsonLine(msgspec.Struct):
    msg: str = ""
    ts: float | str = 0.0
    pod: _Name | str = ""
    entity: _Name | str = ""
    type: str = ""
    node: _Name | str = ""
    event: str = ""


class _Event(msgspec.Struct):
    kind: str = ""
    reason: str = ""
    involvedObject: _Name | None = None
    regarding: _Name | None = None
    lastTimestamp: str | None = None
    firstTimestamp: str | None = None
    eventTime: str | None = None
    message: str = ""
    note: str = ""


_JSON = msgspec.json.Decoder(_JsonLine)
_EVENT = msgspec.json.Decoder(_Event)
_REASONS = {"Scheduled": BOUND, "FailedScheduling": FAILED, "Preempted": PREEMPTED}


def of_klog(line: bytes, year: int, passed_on: str = "") -> Attempt | None:
    """What a line of klog's text says; it has neither a year nor a zone, which follow from when it was passed on, if that is known. None if it says nothing of a pod."""
    match = _KLOG.match(line)
    if match is None:
        return None
    what = _SAID.get(match[7].decode("utf-8", "replace"))
    pairs = {key.decode(): value.decode("utf-8", "replace") for key, value in _PAIR.findall(match[8])}
    pod = pairs.get("pod") or (pairs.get("entity") if pairs.get("type", "").lower() == "pod" else None)
    if what is None or not pod:
        return None
    month, day, hour, minute, second, micro = (int(match[i]) for i in range(1, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second, micro, tzinfo=UTC)
    except ValueError:
        return None
    time = time_of(moment.isoformat())
    when = time_of(passed_on) if passed_on else None
    if when is not None:
        time = time_of(zoned(moment, moment_of(when)).isoformat())
    return Attempt(time or 0, pod, what, pairs.get("node", ""), pairs.get("event", ""))


def is_klog(line: bytes) -> bool:
    """Whether it is a line of klog's text."""
    return _KLOG.match(line) is not None or re.match(rb"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} ", line) is not None


def of_json(line: bytes) -> Attempt | None:
    """What a line of klog's JSON says; None if it says nothing of a pod. Raises msgspec.MsgspecError."""
    said = _JSON.decode(line)
    what = _SAID.get(said.msg)
    named = said.pod or (said.entity if said.type.lower() == "pod" else "")
    pod = named.key if isinstance(named, _Name) else named
    if what is None or not pod:
        return None
    node = said.node.name if isinstance(said.node, _Name) else said.node
    time = time_of(said.ts) if isinstance(said.ts, str) else int(said.ts * 1000)
    return None if time is None else Attempt(time, pod, what, node, said.event)


def of_event(data: bytes) -> Attempt | None:
    """What an Event object says; None if it says nothing of scheduling. Raises msgspec.MsgspecError."""
    event = _EVENT.decode(data)
    what, pod = _REASONS.get(event.reason), event.involvedObject or event.regarding
    text = event.lastTimestamp or event.eventTime or event.firstTimestamp
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
