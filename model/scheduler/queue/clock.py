"""What the queue asks about time: which pod waits longer, whether a backoff or a parking time is over.

The explored model has order only, and its timers may fire at any moment after they were armed. `numbered.py` has
a clock that counts nanoseconds; the queue's methods are the same with both.
"""

from __future__ import annotations

from ...environment.objects import Pod
from ...language import UNTOLD, Component, Expr, as_expr, boolean, per


class Clock(Component):
    """Time as order. `older[p][q]` (kept for p before q in the scenario): p's timestamp is before q's."""

    older = per(Pod, per(Pod, boolean()))

    phrases = UNTOLD

    def setup(self) -> None:
        pods = self.universe[Pod]
        for pod in pods:
            for other in pods[pod.index + 1 :]:
                self.older[pod][other] = True

    def _stamp(self, pod: Pod) -> None:
        for other in self.universe[Pod]:
            if other.index < pod.index:
                self.older[other][pod] = True
            elif other is not pod:
                self.older[pod][other] = False

    def is_older(self, a: Pod, b: Pod) -> Expr:
        """Whether a's timestamp is before b's."""
        older: Expr = self.older[a][b] if a.index < b.index else ~self.older[b][a]
        return older

    def arrived(self, pod: Pod) -> None:
        """newQueuedPodInfo: the queue has a new record of the pod, without attempts."""
        self._stamp(pod)

    def popped(self, pod: Pod) -> None:
        """Pop: another attempt. The timestamp is renewed whenever the pod comes back; until then nothing compares it."""
        self._stamp(pod)

    def came_back(self, pod: Pod) -> None:
        """A failed pod is requeued: a new timestamp, the same attempts."""
        self._stamp(pod)

    def handed_over(self, pod: Pod, other: Pod) -> None:
        """Update, where the record of the pod is found by its name, and is that of another pod from now on: with the same timestamp and attempts."""
        waits_longer = {q: self.is_older(pod, q) for q in self.universe[Pod] if q not in (pod, other)}
        for q, older in waits_longer.items():
            if other.index < q.index:
                self.older[other][q] = older
            else:
                self.older[q][other] = ~older
        self._stamp(pod)

    def left(self, pod: Pod) -> None:
        """Delete: the queue forgets the pod, if it is there."""
        self._stamp(pod)

    def is_backing_off(self, pod: Pod) -> Expr:
        """isPodBackingoff: a backoff lasts until its flush, which may follow at once."""
        return as_expr(True)

    def backoff_may_end(self, pod: Pod) -> Expr:
        """Whether flushBackoffQCompleted takes the pod now."""
        return as_expr(True)

    def is_parked_for_long(self, pod: Pod) -> Expr:
        """Whether flushUnschedulableQLeftover takes the pod now."""
        return as_expr(True)
