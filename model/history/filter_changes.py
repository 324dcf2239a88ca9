"""Which nodes a scheduling cycle goes through, and what the filters say of them, as it was."""

from __future__ import annotations

from ..environment.objects import Node, Pod
from ..environment.watch import NodeWatch
from ..language import Expr, any_of, as_expr, require, select, step, tells
from ..scheduler import Filters, Scheduler, Snapshot
from ..scheduler.framework.status import Phase
from .change import before

_TITLE = "the nodes to try come from the scheduler's cache"


@before("node-list-from-cache", _TITLE, first_in="1.12")
class NodesFromLister(Scheduler):
    """The list of nodes was read from the node lister, before and apart from the snapshot (1.9)."""

    @step(actor="scheduler")
    @tells("The scheduler asks the node lister which nodes there are to try for {pod}.")
    def list_nodes(self, pod: Pod) -> None:
        """Read the node lister: these nodes will be tried."""
        require(self.at(Phase.POPPED, pod) & ~self.skips(pod))
        for node in self.universe[Node]:
            self.snapshot.listed[node] = self.filters.node_watch.lister[node]
        self.phase = Phase.LISTED

    def ready_for_snapshot(self, pod: Pod) -> Expr:
        return self.at(Phase.LISTED, pod)


@before("node-list-from-cache", _TITLE, first_in="1.12")
class SnapshotWithoutList(Snapshot):
    """The snapshot held NodeInfos only."""

    def list_nodes(self) -> None:
        """The list has been read already."""


@before("node-list-from-cache", _TITLE, first_in="1.12")
class ListedNodeWithoutNodeInfo(Filters):
    """A listed node without a Node object in the snapshot made the attempt an error."""

    snapshot: Snapshot

    def scheduling_error(self, pod: Pod, some_feasible: Expr) -> Expr:
        missing = any_of(self.snapshot.listed[n] & ~self.snapshot.live[n] for n in self.universe[Node])
        return super().scheduling_error(pod, some_feasible) | missing


@before(
    "prefer-nominated-node",
    "a nominated pod is tried on its node before all others",
    first_in="1.22",
    gate="PreferNominatedNode",
)
class NominatedNodeNotPreferred(Scheduler):
    """Every node was tried, the nominated one among them (PreferNominatedNode off)."""

    def first_filtering(self) -> Expr:
        return as_expr(Phase.FILTERING)


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

    node_watch: NodeWatch
    snapshot: Snapshot

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
