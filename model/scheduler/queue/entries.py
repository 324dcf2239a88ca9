"""Entries of the sub-queues, which are keyed by name: two pods that have one name, one after the other, can meet there (backend/queue, 1.37).

A pod that is gone has an entry if its failure handler put it back after its deletion was handled. From 1.37 on, another pod of that name
that enters activeQ leaves an entry of backoffQ alone: moveToActiveQ does not look into backoffQ any more, so that the name has two entries.
"""

from ...environment.names import namesakes
from ...environment.objects import Pod, PodCopy, PodObject
from ...language import Expr, Value, any_of, as_expr, when
from ..framework.events import Plugin
from .sub_queues import SubQueue, SubQueues


class Entries(SubQueues):
    """Which entry is found under a name, and which one gives way to another."""

    def is_recorded(self, pod: Pod) -> Expr:
        """Whether an attempt that can requeue the pod has a record of it."""
        return as_expr(self.in_flight[pod])

    def enter_added(self, pod: Pod, new: PodObject) -> None:
        """moveToActiveQ of a new pod."""
        self.put(pod, self.entering(pod, SubQueue.ACTIVE, new), new.copy())
        self._displace(pod)

    def _displace(self, pod: Pod) -> None:
        """The pod has entered a sub-queue: the entry of another pod with its name leaves this sub-queue and the parked pods (moveToActiveQ, moveToBackoffQ)."""
        for other in namesakes(self.universe, pod):
            parked = self.sub_queue[other] == SubQueue.UNSCHEDULABLE
            self._drop(other, parked | (self.sub_queue[other] == self.sub_queue[pod]))

    def hides(self, other: Pod, pod: Pod) -> Expr:
        """Whether a search for the pods' name finds the other pod's entry: activeQ comes first, then backoffQ, then the parked pods."""
        active, backing_off = (
            self.sub_queue[other] == SubQueue.ACTIVE,
            self.sub_queue[other] == SubQueue.BACKOFF,
        )
        first = active & (self.sub_queue[pod] != SubQueue.ACTIVE)
        return first | (backing_off & (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE))

    def _is_hidden(self, pod: Pod) -> Expr:
        """Whether a search for the pod's name finds the entry of another pod."""
        others = namesakes(self.universe, pod)
        return self.contains(pod) & any_of(self.hides(other, pod) for other in others)

    def drop_found(self, pod: Pod) -> None:
        """The entry of another pod that has the pod's name is removed."""
        found = [(other, ~self.hides(pod, other)) for other in namesakes(self.universe, pod)]
        for other, is_found in found:
            self._drop(other, is_found)

    def _drop(self, pod: Pod, leaves: Value) -> None:
        """If the condition is true, the pod's entry leaves its sub-queue."""
        with when(self.contains(pod) & leaves):
            with when(~self.is_recorded(pod)):
                self._forget_rejection(pod)
            self.gated[pod] = False
            self.put(pod, SubQueue.NONE, PodCopy())

    def _forget_rejection(self, pod: Pod) -> None:
        for plugin in self.universe[Plugin]:
            self.rejected_by[pod][plugin] = False
