"""Who is who in a queue case, and what changes of a pod: names, UIDs, and versions of one object.

Sub-queues are keyed by namespace and name, the nominator by UID. So a pod that comes again under its name is another pod of the model, which
recreates the first. Two pods of one UID, which no API server has, share their nomination. A version may have a priority of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from podrace.model.environment.objects import Pod
from podrace.model.language import Component, Expr, Value, as_expr, select
from podrace.model.scheduler.queue.scheduling_queue import PriorityQueue
from tests.conformance.cases.cases import NotTranslated
from tests.conformance.queue.numbered import OrderedNominator


class SharedNominations(OrderedNominator):
    """The nominator where two pods have one UID: an entry of the one is dropped by what concerns the other."""

    sharing: ClassVar[Mapping[str, Sequence[Pod]]] = {}

    def add(self, pod: Pod, node: Value, field: Value) -> None:
        for other in self.sharing.get(pod.name, ()):
            self.node[other] = None
        super().add(pod, node, field)

    def update(self, pod: Pod, old_field: Value, new_field: Value) -> None:
        for other in self.sharing.get(pod.name, ()):
            self.node[pod] = select(as_expr(self.node[pod]).is_none, self.node[other], self.node[pod])
        super().update(pod, old_field, new_field)

    def delete(self, pod: Pod) -> None:
        for other in self.sharing.get(pod.name, ()):
            self.node[other] = None
        super().delete(pod)


class PrioritiesOfVersions(PriorityQueue):
    """activeQ's order where a pod's priority depends on the version of it that is queued."""

    priorities: ClassVar[Mapping[str, Sequence[int]]] = {}

    def priority(self, pod: Pod) -> Expr:
        """The priority of the queued object."""
        found = as_expr(pod.priority)
        for number, said in enumerate(self.priorities.get(pod.name, ())):
            found = select(self.copy[pod].version == number, said, found)
        return found

    def precedes(self, a: Pod, b: Pod) -> Expr:
        first, second = self.priority(a), self.priority(b)
        return (first > second) | ((first == second) & self.clock.is_older(a, b))


def shared_nominations(uids: Mapping[Pod, str]) -> tuple[type[Component], ...]:
    """A nominator for pods of which some have one UID; none if each has its own."""
    sharing = {
        pod.name: [other for other, theirs in uids.items() if other is not pod and theirs == uid]
        for pod, uid in uids.items()
        if uid
    }
    found = {name: others for name, others in sharing.items() if others}
    body = {"sharing": found, "__module__": __name__}
    return (type("TheseShare", (SharedNominations,), body),) if found else ()


def changing_priorities(
    versions: Mapping[Pod, Sequence[int]], changes: Iterable[type[Component]]
) -> tuple[type[Component], ...]:
    """A queue for pods whose priority changes; none if no pod's does. Raises NotTranslated for a release with an order of its own."""
    changing = {pod.name: said for pod, said in versions.items() if len(set(said)) > 1}
    if not changing:
        return ()
    if any(issubclass(c, PriorityQueue) and "precedes" in vars(c) for c in changes):
        name = next(iter(changing))
        raise NotTranslated(f"versions of {name} that differ in priority: the release has another order")
    body = {"priorities": changing, "__module__": __name__}
    return (type("ThesePriorities", (PrioritiesOfVersions,), body),)
