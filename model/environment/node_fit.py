"""Where those who place nobody think that a pod fits: the descheduler (NodeFit in pkg/descheduler/node) and autoscalers, who simulate kube-scheduler.

They ask for what a pod asks of a node, for taints, and for room beside the pods that are bound there; not for what plugins say of pods among themselves.
"""

from ..language import Component, Expr, all_of, any_of, as_expr, count, select, total
from .api import APIServer
from .cluster.pod_versions import in_form
from .objects import Node, Pod


class NodeFit(Component):
    """What the API server says of pods and nodes, and whether a pod fits there by it."""

    api: APIServer

    def stays(self, pod: Pod) -> Expr:
        """Whether the pod is on a node, and not deleted."""
        current = self.api.pod[pod]
        return as_expr(current.assigned & ~current.terminating)

    def fits_some(self, pod: Pod, nodes: tuple[Node, ...]) -> Expr:
        """PodFitsAnyNode: whether the pod passes NodeFit on one of the nodes."""
        return any_of(
            shown & self.fits(pod, node, version)
            for node in nodes
            for shown, version in self.api.contents(node)
        )

    def fits(self, pod: Pod, node: Node, content: Node) -> Expr:
        """NodeFit: the node exists, is not cordoned, matches the pod's selectors, has no taint that the pod does not tolerate, and has room. A pod always has room on its own node."""
        if not takes(pod, content):
            return as_expr(False)
        room = all_of(self._has_room(pod, node, content, resource) for resource in pod.resources)
        number = count(self.is_on(other, node) for other in self.universe[Pod] if other is not pod)
        slots = as_expr(True) if content.pods is None else number + 1 <= content.pods
        return self.api.node_exists[node] & (self.is_on(pod, node) | (room & slots))

    def _has_room(self, pod: Pod, node: Node, content: Node, resource: str) -> Expr:
        asked = self.asked(pod, resource)
        others = (other for other in self.universe[Pod] if other is not pod)
        taken = total(select(self.is_on(other, node), self.asked(other, resource), 0) for other in others)
        return (asked == 0) | (taken + asked <= content.allocatable(resource))

    def asked(self, pod: Pod, resource: str) -> Expr:
        """The requests in the pod's object now."""
        return in_form(self.universe, pod, self.api.pod[pod].version, lambda form: form.request(resource))

    def is_on(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod's object has this node."""
        current = self.api.pod[pod]
        return current.assigned & (current.node == node)


KEEPING_OFF = ("NoSchedule", "NoExecute")
"""The effects of taints for which a pod is not placed on a node."""


def takes(pod: Pod, node: Node) -> bool:
    """Whether the node may take the pod, room apart."""
    return pod.asks_for(node) and not node.unschedulable and pod.endures(node, KEEPING_OFF)
