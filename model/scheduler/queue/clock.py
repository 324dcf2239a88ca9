"""What the queue asks about time: which pod waits longer, whether a backoff or a parking time is over.

The explored model has order only, and its timers may fire at any moment after they were armed. `numbered.py` has
a clock that counts nanoseconds; the queue's methods are the same with both.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from ...environment.names import namesakes
from ...environment.objects import Pod
from ...language import UNTOLD, Component, Expr, Value, as_expr, boolean, per, select


class Clock(Component):
    """The order of timestamps. `older[p][q]` (stored for p before q in the scenario): p's timestamp is earlier than q's.

    `open[p][q]`: nobody has compared the two yet, and either may be the older one. So it is of pods that wait at the start, and of
    those that a new process finds. The first of them that Pop takes was the older one, and gets a new timestamp. Pods that are open to
    each other have one place in the order, so what is compared later never contradicts that.
    """

    older = per(Pod, per(Pod, boolean()))
    open = per(Pod, per(Pod, boolean()))

    phrases = UNTOLD

    def setup(self) -> None:
        for pod, other in combinations(self.universe[Pod], 2):
            known = _waits(pod) and _waits(other) and pod.arrival > other.arrival
            self.older[pod][other] = not known
            if self._begins_open(pod, other):
                self.open[pod][other] = True

    def _begins_open(self, a: Pod, b: Pod) -> bool:
        """Whether both pods wait at the start, and the scenario does not say which one came first."""
        return not self.scope.file_order and _waits(a) and _waits(b) and a.arrival == b.arrival

    def _may_be_open(self, a: Pod, b: Pod) -> bool:
        """Whether the order of the two can be unknown at some time. A pod can take over the record of another pod with its name."""
        if self.scope.restarts or self.scope.leader_changes:
            return not self.scope.file_order
        every = self.universe
        return any(
            self._begins_open(one, two)
            for one in (a, *namesakes(every, a))
            for two in (b, *namesakes(every, b))
            if one is not two
        )

    def _stamp(self, pod: Pod) -> None:
        for other in self.universe[Pod]:
            if other is not pod:
                self._note(pod, other, False, False)

    def _note(self, a: Pod, b: Pod, older: Value, is_open: Value) -> None:
        """Records whether a is older than b, or that this is unknown."""
        first, second = (a, b) if a.index < b.index else (b, a)
        older = as_expr(older) if first is a else ~as_expr(older)
        if self._may_be_open(a, b):
            # What is open has one form, so that it is one state.
            self.older[first][second] = older | is_open
            self.open[first][second] = is_open
        else:
            self.older[first][second] = older

    def is_open(self, a: Pod, b: Pod) -> Expr:
        """Whether it is unknown which of the two is older."""
        if not self._may_be_open(a, b):
            return as_expr(False)
        return as_expr(self.open[a][b] if a.index < b.index else self.open[b][a])

    def is_older(self, a: Pod, b: Pod) -> Expr:
        """Whether a's timestamp is known to be earlier than b's."""
        older: Expr = self.older[a][b] if a.index < b.index else ~self.older[b][a]
        return older & ~self.is_open(a, b)

    def arrived(self, pod: Pod) -> None:
        """newQueuedPodInfo: the queue has a new record of the pod, without attempts."""
        self._stamp(pod)

    def popped(self, pod: Pod) -> None:
        """Pop: one more attempt. The timestamp is set when the pod is requeued; nothing compares it before."""
        self._stamp(pod)

    def came_back(self, pod: Pod) -> None:
        """A failed pod is requeued: a new timestamp, the same attempts."""
        self._stamp(pod)

    def found_together(self, pods: Mapping[Pod, Value]) -> None:
        """A new process has received those of these pods whose condition is true, in an unknown order."""
        for a, b in combinations(pods, 2):
            if self._may_be_open(a, b):
                both = as_expr(pods[a]) & pods[b]
                # Of a pod that is not there nobody asks; it gets a place when it is queued.
                self._note(a, b, True, both)

    def handed_over(self, pod: Pod, other: Pod) -> None:
        """Update: the pod's record, found by name, now belongs to another pod, with the same timestamp and attempts."""
        others = [q for q in self.universe[Pod] if q not in (pod, other)]
        place = {q: (self.is_older(pod, q), self.is_open(pod, q)) for q in others}
        for q, (older, is_open) in place.items():
            self._note(other, q, older, is_open)
        self._stamp(pod)

    def precede(self, entry: Sequence[Pod]) -> None:
        """Pop of a group's entry. It was older than every entry whose order was unknown, and keeps its timestamp."""
        for one in entry:
            for other in self.universe[Pod]:
                if other not in entry and self._may_be_open(one, other):
                    self._note(one, other, self.is_older(one, other) | self.is_open(one, other), False)

    def joined(self, pod: Pod, entry: Mapping[Pod, Value]) -> None:
        """The pod joins the entry of its group, and gets the position of the members that are in it."""
        for other in self.universe[Pod]:
            if other is not pod and other not in entry:
                older, is_open = as_expr(False), as_expr(False)
                for one, inside in entry.items():
                    older = select(inside, self.is_older(one, other), older)
                    is_open = select(inside, self.is_open(one, other), is_open)
                self._note(pod, other, older, is_open)

    def left(self, pod: Pod) -> None:
        """Delete: the queue drops the pod, if it has it."""
        self._stamp(pod)

    def is_backing_off(self, pod: Pod) -> Expr:
        """isPodBackingoff: a backoff lasts until its flush, which can follow immediately."""
        return as_expr(True)

    def backoff_may_end(self, pod: Pod) -> Expr:
        """Whether flushBackoffQCompleted takes the pod now."""
        return as_expr(True)

    def is_parked_for_long(self, pod: Pod) -> Expr:
        """Whether flushUnschedulableQLeftover takes the pod now."""
        return as_expr(True)


def _waits(pod: Pod) -> bool:
    """Whether the pod waits at the start."""
    return pod.exists and pod.node is None and not pod.foreign
