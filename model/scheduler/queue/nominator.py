"""The nominator: which node each preemptor waits for (backend/queue/nominator.go, 1.34)."""

from __future__ import annotations

from ...environment.cluster.pod_versions import whole
from ...environment.objects import NOMINATED, Node, Pod, node_or_none
from ...environment.watch import PodWatch
from ...language import Component, Expr, Knowledge, Value, Words, as_expr, per, ref, select
from ..framework.interface import QueuedPods


class Nominator(Component):
    """Nominations in memory, by pod; no more of a pod than its name is kept, and its object is looked up in the queue."""

    pod_watch: PodWatch
    queue: QueuedPods

    node = per(Pod, ref(Node))

    phrases = {
        "node": Words(
            "nominator: {0} is nominated to {after}",
            "nominator: {0} is no longer nominated",
            decisive=True,
        )
    }
    knowledge = (Knowledge("nominator", {"node": NOMINATED}),)

    def nominated_to(self, pod: Pod, node: Node) -> Expr:
        """Whether the scheduler knows of a nomination of `pod` to `node`."""
        return self.node[pod] == node

    def has_object(self, pod: Pod) -> Expr:
        """nominatedPodToInfo: the object of a pod in a sub-queue is found, by name; any other gets one with name and UID only."""
        return self.queue.contains_name(pod)

    def has_form(self, pod: Pod) -> Expr:
        """Whether the object of the pod is this version of it: the one in the queue, or the lister's if it is in no sub-queue."""
        known = whole(self.universe, pod)
        if not known.later:
            return as_expr(True)
        queued, listed = self.queue.copy[known].version, self.pod_watch.lister[known].version
        return select(self.queue.contains(known), queued, listed) == pod.number

    def is_withdrawn_from(self, pod: Pod, node: Node) -> Expr:
        """Whether clearNominatedNodeName has something to write for the pod: its nomination to the node is known, and its
        object, as NominatedPodsForNode gives it, carries the field.
        """
        return self.nominated_to(pod, node) & self.carries_field(pod)

    def is_withdrawn_by(self, preemptor: Pod, pod: Pod, node: Node) -> Expr | None:
        """Whether a preemptor that has chosen the node has something to withdraw of the pod, which has a lower priority; None for never
        (getLowerPriorityNominatedPods, and clearNominatedNodeName).
        """
        if pod is preemptor:
            return None
        return self.is_withdrawn_from(pod, node) & (pod.priority < preemptor.priority)

    def carries_field(self, pod: Pod) -> Expr:
        """Whether the object of a nominated pod has status.nominatedNodeName; a bare one never has."""
        return self.queue.copy[pod].nominated.is_some

    def add(self, pod: Pod, node: Value, field: Value) -> None:
        """AddNominatedPod: drops the old entry; records `node`, or if none the object's own field."""
        chosen = node_or_none(node)
        wanted = select(chosen.is_none, node_or_none(field), chosen)
        self.node[pod] = select(self.accepts(pod), wanted, None)

    def accepts(self, pod: Pod) -> Expr:
        """Only a pod that the lister shows, by its name, without a node, is recorded."""
        return self.pod_watch.under_name(pod).pending

    def update(self, pod: Pod, old_field: Value, new_field: Value) -> None:
        """UpdateNominatedPod: an update without the field on either side keeps the node in memory."""
        keep = node_or_none(old_field).is_none & node_or_none(new_field).is_none
        self.add(pod, select(keep, self.node[pod], None), new_field)

    def hand_over(self, pod: Pod, other: Pod) -> None:
        """UpdateNominatedPod looks the node up under the UID of the old object, and takes that entry out."""
        self.node[other] = self.node[pod]
        self.delete(pod)

    def delete(self, pod: Pod) -> None:
        """DeleteNominatedPodIfExists."""
        self.node[pod] = None

    def popped(self, pod: Pod) -> None:
        """A scheduling cycle takes the pod: its nomination stays."""
