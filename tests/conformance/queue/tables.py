"""Conformance of the scheduling queue: operations on it, and which events concern a waiting pod.

Each operation becomes calls of the model's own queue and nominator (`queue_calls`); `queue_stage` compares what the model then
holds with the case.
"""

from __future__ import annotations

from collections import Counter

from tests.conformance.cases.cases import Case, NotTranslated, Outcome, check, judged
from tests.conformance.queue.calls import Calls, RawAccess
from tests.conformance.queue.cast import QueueCast, event_of, gather
from tests.conformance.queue.stage import NAMES


def run(case: Case, release: str) -> Outcome:
    """Run a case of `queue.json` on a release."""
    return judged(case, release, lambda: _play(case, release))


def _play(case: Case, release: str) -> None:
    kind = case.get("kind", "ops")
    if kind == "event_match":
        _match(case, release)
    elif kind == "ops":
        QueuePlay(case, gather(case, release)).run()
    else:
        raise NotTranslated(f"kind {kind}")


def _match(case: Case, release: str) -> None:
    cast = gather({**case, "pods": {"p": {"name": "p"}}}, release)
    queue, pod = cast.model.part("queue"), cast.pods[0]
    rejecting = case.get("unschedulable_plugins") or ()
    cast.model.do(lambda: queue.record_rejection(pod, {p: n in rejecting for n, p in cast.plugins.items()}))
    event = event_of(case["event"])
    check(event.label, cast.model.get(lambda: queue.matches(pod, event)), case["expected_match"])


class QueuePlay(Calls, RawAccess):
    """A case being played. Where several pods may leave a sub-queue next, any of them is accepted."""

    def __init__(self, case: Case, cast: QueueCast) -> None:
        super().__init__(case, cast)
        self.incoming: Counter[tuple[str, str]] = Counter()

    def run(self) -> None:
        """Play all operations; raises Differs at the first difference."""
        self.model.do(self.prepare)
        for number, op in enumerate(self.case["ops"]):
            before = self.places()
            cause = self.perform(number, op)
            for pod, place in self.places().items() if cause else ():
                if place != before[pod] and place in NAMES:
                    self.incoming[cause, NAMES[place]] += 1
        if self.case.get("expected_incoming") is not None:
            expected = {(e["event"], e["queue"]): e["count"] for e in self.case["expected_incoming"]}
            check("entries by cause", dict(self.incoming), {k: n for k, n in expected.items() if n})
