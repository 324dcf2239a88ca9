"""A-FLUSH: no pod's wait ends only because the queue's flush takes it, after five minutes; and what a log without the scheduler's log shows of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...reports.audit_report import Hit
from ..history.objects import BEFORE, PodHistory
from ..reading.records import Attempt, Pod, Write
from ..reading.scheduler_log import BACKED_OFF, BOUND, FAILED, FLUSH, MOVED
from .check import Check, Found, Trust, at

MINUTE = 60_000_000
FIVE_MINUTES = 5 * MINUTE
"""So long a pod is parked before the flush takes it; one minute up to 1.22 (scheduling_queue.go of 1.22.17 and 1.29.14)."""

PERIOD = 30_000_000
"""The flush runs so often."""

MOST_SIGNS = 100

SINCE = 24
_AGENT = re.compile(r"[^/]{1,100}/v1\.([0-9]{1,3})[^0-9]", re.ASCII)


class Waiting(Check):
    """An event that should have moved the pod was lost, or came too early: the race's most common trace.

    Whoever was bound within five minutes of his creation was taken by no flush; of who waited longer, the scheduler's log and metrics know more.
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

    def seen(self, pod: PodHistory, body: Pod, write: Write | None) -> None:
        """Note when an attempt failed last, and how long afterwards the pod was bound."""
        if pod.gone:
            self._failed.pop(pod, None)
        elif write is not None and write.sub == "status" and not body.spec.nodeName:
            if any(
                c.type == "PodScheduled" and c.reason == "Unschedulable" for c in body.status.conditions or ()
            ):
                self._failed[pod] = write.end

    def wrote(self, write: Write, pod: PodHistory | None) -> None:
        """A Binding ends the wait."""
        if pod is None or write.refused or not (write.sub == "binding" or write.resource == "bindings"):
            return
        if write.end - pod.born >= _parked(write.agent):
            self.leave_open(
                "a pod was bound long enough after its creation for the flush to have taken it; the scheduler's log at -v=5 would tell",
                pod.key,
            )
        failed = self._failed.pop(pod, None)
        waited = write.begin - failed if failed is not None else 0
        if FIVE_MINUTES <= waited <= FIVE_MINUTES + PERIOD + 5_000_000 and len(self.signs) < MOST_SIGNS:
            self.signs.append(
                f"{at(write.begin)}: {pod.key} is bound {waited / 60_000_000:.1f} minutes after its last attempt failed: as if the "
                "periodic flush had ended its wait (the metric scheduler_pod_scheduled_after_flush_total would say so)"
            )

    def found(self, trust: Trust) -> list[Found]:
        """What the scheduler's log says; the metric alone knows a number, and no pod."""
        flushed: dict[str, int] = {}
        found = []
        for attempt in sorted(self.attempts, key=lambda a: a.time):
            if attempt.what == MOVED and attempt.event == FLUSH:
                flushed[attempt.pod] = attempt.time
            elif attempt.what == FAILED or (attempt.what == MOVED and attempt.event != BACKED_OFF):
                flushed.pop(attempt.pod, None)
            elif attempt.what == BOUND and attempt.pod in flushed:
                since = flushed.pop(attempt.pod)
                words = f"{attempt.pod} was taken by the flush at {at(since)}, and the next attempt bound it"
                found.append(Found(attempt.time, Hit(at(attempt.time), words, (attempt.pod,), attempt.node)))
        if not found and self.flushed:
            # Since its process began, and nobody says when: so it is asked only about all that there is.
            words = f"the scheduler counts {self.flushed:g} pods that were scheduled after a flush, and does not say which"
            found.append(Found(BEFORE, Hit("by the metrics", words)))
        return found


def _parked(agent: str) -> int:
    """How long the sender of a Binding parks a pod at least before its flush takes it, unless it was told otherwise."""
    match = _AGENT.match(agent)
    return FIVE_MINUTES if match and int(match[1]) >= SINCE else MINUTE
