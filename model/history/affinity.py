"""Inter-pod affinity as it was."""

from __future__ import annotations

from ..environment.objects import Node, Pod
from ..language import Expr, any_of, select
from ..scheduler import Filters
from .change import before


@before(
    "53647",
    "inter-pod affinity ignores pods whose node is gone",
    first_in="1.9",
    issues=(50813, 56261),
)
class Before53647(Filters):
    """Scoring by inter-pod affinity asked the node lister for the node of every pod that matters.

    A pod matters if it has affinity terms, or if the pod to be scheduled has any. One NotFound made the
    whole attempt an error (algorithm/priorities/interpod_affinity.go and predicates.go, 1.8).
    """

    def scheduling_error(self, pod: Pod, some_feasible: Expr) -> Expr:
        lost = any_of(self.is_lost(pod, node) for node in self.universe[Node])
        return super().scheduling_error(pod, some_feasible) | (some_feasible & lost)

    def is_lost(self, pod: Pod, node: Node) -> Expr:
        """Whether a pod that matters is on a node that the lister does not have."""
        missing = ~self.node_watch.lister[node]
        return missing & any_of(
            self.snapshot.on(q, node) for q in self.universe[Pod] if q is not pod and (pod.terms or q.terms)
        )

    def missing_node(self, pod: Pod) -> Expr:
        found = super().missing_node(pod)
        for node in reversed(self.universe[Node]):
            found = select(self.is_lost(pod, node), node, found)
        return found
