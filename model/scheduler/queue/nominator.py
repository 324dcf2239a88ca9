"""The nominator: which node each preemptor waits for (backend/queue/nominator.go, 1.34)."""

from ...environment.cluster.pod_versions import whole
from ...environment.objects import NOMINATED, Node, Pod, node_or_none
from ...environment.watch import PodWatch
from ...language import Component, Expr, Knowledge, Value, Words, as_expr, per, ref, select
from ..framework.interface import QueuedPods


class Nominator(Component):
    """Nominations in memory, by pod. Only the pod's name is stored; the object is taken from the queue."""

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
        """nominatedPodToInfo: the object of a pod in a sub-queue is found by name. For any other pod, the object has only name and UID."""
        return self.queue.contains_name(pod)

    def has_form(self, pod: Pod) -> Expr:
        """Whether the pod's object, in the queue or otherwise in the lister, is this version."""
        known = whole(self.universe, pod)
        if not known.later:
            return as_expr(True)
        queued, listed = self.queue.copy[known].version, self.pod_watch.lister[known].version
        return select(self.queue.contains(known), queued, listed) == pod.number

    def is_withdrawn_from(self, pod: Pod, node: Node) -> Expr:
        """Whether clearNominatedNodeName has to write for the pod: its nomination to the node is recorded, and its object from NominatedPodsForNode has the field."""
        return self.nominated_to(pod, node) & self.carries_field(pod)

    def is_withdrawn_by(self, preemptor: Pod, pod: Pod, node: Node) -> Expr | None:
        """Whether a preemptor that has chosen the node removes the nomination of this pod of lower priority; None for never (getLowerPriorityNominatedPods and clearNominatedNodeName)."""
        if pod is preemptor:
            return None
        return self.is_withdrawn_from(pod, node) & (pod.priority < preemptor.priority)

    def carries_field(self, pod: Pod) -> Expr:
        """Whether the nominated pod's object has status.nominatedNodeName; an object with only name and UID never has it."""
        return self.queue.copy[pod].nominated.is_some

    def add(self, pod: Pod, node: Value, field: Value) -> None:
        """AddNominatedPod: removes the old entry, and records `node`, or without it the node in the object's field."""
        chosen = node_or_none(node)
        wanted = select(chosen.is_none, node_or_none(field), chosen)
        self.node[pod] = select(self.accepts(pod), wanted, None)

    def accepts(self, pod: Pod) -> Expr:
        """Whether the pod is recorded: the lister, by name, shows it without a node."""
        return self.pod_watch.under_name(pod).pending

    def update(self, pod: Pod, old_field: Value, new_field: Value) -> None:
        """UpdateNominatedPod: an update without the field on either side keeps the node in memory."""
        keep = node_or_none(old_field).is_none & node_or_none(new_field).is_none
        self.add(pod, select(keep, self.node[pod], None), new_field)

    def hand_over(self, pod: Pod, other: Pod) -> None:
        """UpdateNominatedPod removes the entry with the old object's UID, and uses its node."""
        self.node[other] = self.node[pod]
        self.delete(pod)

    def delete(self, pod: Pod) -> None:
        """DeleteNominatedPodIfExists."""
        self.node[pod] = None

    def popped(self, pod: Pod) -> None:
        """A scheduling cycle takes the pod. Its nomination stays."""
