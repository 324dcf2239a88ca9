"""Updates of pods that have a node: updateAssignedPodInCache (eventhandlers.go, 1.36) after the cache has the new object.

The queue is told of each kind of change by itself, one move after the other (PodSchedulingPropertiesChange in framework/events.go), so that
a scheduling cycle may come between two of them.
"""

from ..environment.cluster.pod_versions import PodChange, versions_in
from ..environment.objects import Pod, PodObject
from ..language import UNTOLD, Component, Expr, any_of, as_expr, ref, when
from .framework.events import PodUpdate
from .queue.scheduling_queue import PriorityQueue


class PodUpdates(Component):
    """The pod handler's moves for an update of an assigned pod that are still to come. `kind` is the next move's kind, none for the first."""

    queue: PriorityQueue

    kind = ref(PodUpdate)

    phrases = UNTOLD

    def is_telling(self) -> Expr:
        """Whether moves for an update are still to come."""
        return self.kind.is_some

    def changes(self, pod: Pod, old: PodObject, new: PodObject) -> list[tuple[Expr, PodChange]]:
        """The kinds of change in an update about which the queue is notified: old and new version, each with its condition."""
        versions = versions_in(self.universe, pod)
        found = [
            ((old.version == a.number) & (new.version == b.number), PodChange(a.content, b.content, True))
            for a in versions
            for b in versions
            if a is not b
        ]
        return [(changed, change) for changed, change in found if self.queue.kinds_of(change)]

    def is_change(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """Whether the queue is notified about the update."""
        return any_of(changed for changed, _ in self.changes(pod, old, new))

    def tell(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """The next move: the parked pods that can fit because of one kind of change."""
        now = as_expr(self.kind)
        for changed, change in self.changes(pod, old, new):
            kinds = list(self.queue.kinds_of(change))
            for place, kind in enumerate(kinds):
                turn = now == kind if place else now.is_none | (now == kind)
                with when(changed & turn):
                    self.queue.move_all(kind.event, about=change)
                    self.kind = kinds[place + 1] if place + 1 < len(kinds) else None
