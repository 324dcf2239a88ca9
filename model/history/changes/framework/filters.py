"""Which nodes a scheduling cycle goes through, and what the filters say of them, as it was."""

from collections.abc import Sequence

from ....environment.cluster.node_versions import NodeChange
from ....environment.objects import NATIVE, HostPort, Node, Pod, Term
from ....environment.watch import NodeWatch
from ....language import Expr, any_of, as_expr, require, select, step, tells
from ....scheduler import Action, Filters, NodeUpdate, NodeUpdates, Scheduler, Snapshot
from ....scheduler.framework.status import Phase
from ...registry.change import always, before, never, no

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


@before("53647", "inter-pod affinity ignores pods whose node is gone", first_in="1.9", issues=(50813, 56261))
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
        return missing & any_of(self.snapshot.on(q, node) for q in self.universe[Pod] if pod.terms or q.terms)

    def missing_node(self, pod: Pod) -> Expr:
        found = super().missing_node(pod)
        for node in reversed(self.universe[Node]):
            found = select(self.is_lost(pod, node), node, found)
        return found


def asks_for_anything(pod: Pod) -> Expr:
    """Whether fitsRequest looks at the pod's resources at all: it asks for a native one, or names another."""
    return any_of(pod.request(r) > 0 for r in NATIVE) | (len(pod.resources) > len(NATIVE))


@before("116408", "a native resource that a pod does not request excludes no node", first_in="1.28")
class OvercommittedNodesRefuse(Filters):
    """A pod that asked for anything was refused by every native resource that was overcommitted."""

    def is_checked(self, pod: Pod, resource: str) -> Expr:
        return asks_for_anything(pod) if resource in NATIVE else super().is_checked(pod, resource)


@before(
    "too-small-nodes",
    "preemption does not try a node that is too small for the pod even when empty",
    first_in="1.34",
)
class TooSmallNodesTried(Filters):
    """A pod that asks for more than the node has in all was as unschedulable there as one that others keep out (1.33)."""

    is_too_small = never


@before("111544", "a request of 0 of an extended resource excludes no node", first_in="1.26")
class ZeroRequestsCompared(Filters):
    """An extended resource that a pod named was compared, also with a request of 0."""

    def is_checked(self, pod: Pod, resource: str) -> Expr:
        return super().is_checked(pod, resource) if resource in NATIVE else as_expr(True)


@before(
    "affinity-skips",
    "the inter-pod affinity filter is skipped if neither the pod nor a pod in the snapshot needs it",
    first_in="1.27",
)
class AffinityNeverSkips(Filters):
    """InterPodAffinity looked at every pod, and so saw the anti-affinity of those that are nominated to the node."""

    looks = always


@before(
    "host-port-addresses", "host ports of different addresses or protocols do not conflict", first_in="1.9"
)
class PortsByNumber(Filters):
    """A NodeInfo listed the numbers of its pods' host ports, and neither addresses nor protocols (schedulercache/node_info.go, 1.8)."""

    def is_taken_by(self, pod: Pod, port: HostPort) -> bool:
        return any(own.port == port.port for own in pod.host_ports)


@before(
    "pre-check-taints",
    "the pre-check of a node admits pods that its NoExecute taints would evict",
    first_in="1.24",
)
class NoExecutePreChecked(Filters):
    """It looked at taints with the effect NoExecute, too (1.22 and 1.23)."""

    def effects_of_pre_check(self) -> Sequence[str]:
        return ("NoSchedule", "NoExecute")


@before(
    "node-declared-features",
    "nodes declare features, and a filter compares them with the features that pods need",
    first_in="1.36",
    gate="NodeDeclaredFeatures",
)
class FeaturesNotLookedAt(Filters):
    """The feature gate NodeDeclaredFeatures was off (1.35), and before that there was no such plugin."""

    asks_for_features = no


@before(
    "node-declared-features",
    "nodes declare features, and a filter compares them with the features that pods need",
    first_in="1.36",
    gate="NodeDeclaredFeatures",
)
class FeaturesNotTold(NodeUpdates):
    """Nor was the queue told of changed features."""

    def told_kinds(self, change: NodeChange) -> Sequence[NodeUpdate]:
        return [
            kind for kind in super().told_kinds(change) if not kind.event.action & Action.UPDATE_NODE_FEATURE
        ]


@before(
    "own-terms-merged",
    "a pod's own affinity terms apply only to the namespaces that they name or select",
    first_in="1.37",
    since="1.34",
    backports=("1.34.13", "1.35.10", "1.36.6"),
)
class OwnTermsKeepTheirSelectors(Filters):
    """mergeAffinityTermNamespacesIfNotEmpty was given a copy of the term, and took the selector from that: it is asked about no labels, and one that says NotIn or DoesNotExist takes in every namespace (1.34 to 1.36)."""

    def means(self, term: Term, other: Pod) -> bool:
        return super().means(term, other) or term.matches_by_name(other)
