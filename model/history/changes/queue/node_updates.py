"""What the scheduler made of updates of nodes, as it was."""

from collections.abc import Sequence

from ....environment.cluster.node_versions import NodeChange
from ....environment.objects import Node, Pod
from ....language import Expr, as_expr
from ....scheduler import Action, ClusterEvent, Hints, NodeUpdate, NodeUpdates, Plugin
from ....scheduler.framework.events import NODE_ADD, NODE_PORTS
from ...registry.change import before, never, no
from ...versions import PRE_RELEASES

_OF_ANY_UPDATE = ("TaintToleration", "NodeAffinity", NODE_PORTS, "NodeResourcesFit")
"""The plugins that asked for every update of a node from 1.24 to 1.31."""


def _is_update(event: ClusterEvent) -> bool:
    return event.resource == "Node" and bool(event.action & Action.UPDATE)


@before(
    "127220",
    "each plugin registers only the kinds of node updates that can help, because no pre-check hides events from it",
    first_in="1.32",
    after=("preemption-events",),
)
class EveryNodeUpdateHeard(Hints):
    """Several plugins asked for more updates of nodes than can help: the pre-check may have hidden the one that did (issue 109437).

    A node that joins with a taint is one: the pre-check hides its arrival, and what makes it fit is that the taint goes.
    """

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        if _is_update(event) and plugin.name in (*_OF_ANY_UPDATE, "NodeUnschedulable"):
            return True
        return super().hears(plugin, event)


@before(
    "nominated-node-shrinks",
    "a pod whose nominated node has become too small for it is tried again",
    first_in=PRE_RELEASES[0],
)
class NominatedPodsStay(Hints):
    """To NodeResourcesFit a node that became smaller helped nobody: the nominated pod waited until its victims were gone (up to 1.37)."""

    wakes_nominee = never


@before("taints-asked-for", "only plugins that register changed taints are notified of them", first_in="1.37")
class NewNodesMeanTaints(Hints):
    """buildQueueingHintMap: a plugin that asked for new nodes, but not for changed taints, was given these as well, without a hint (1.30 to 1.36).

    It was not asked, so that each moved every pod that it had rejected: the pre-check might have hidden the node when it was new (issue 109437).
    """

    def hears_taints_too(self, plugin: Plugin, event: ClusterEvent) -> bool:
        is_taint = event.resource == "Node" and event.action == Action.UPDATE_NODE_TAINT
        return is_taint and not plugin.asked_for(event) and plugin.asked_for(NODE_ADD)


_TAINTS = "a plugin that registers new nodes also registers changed taints"


@before("122292", _TAINTS, first_in="1.30", issues=(123509, 122306))
class AffinityHearsNoTaints(Hints):
    """PodTopologySpread and InterPodAffinity did not hear that a node lost its taint, NodeUnschedulable of no other update."""

    hears_taints_too = no

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        taint = event.action == Action.UPDATE_NODE_TAINT
        if _is_update(event) and plugin.name in ("PodTopologySpread", "InterPodAffinity"):
            return event.action == Action.UPDATE_NODE_LABEL
        if _is_update(event) and plugin.name == "NodeUnschedulable":
            return taint
        return super().hears(plugin, event)


@before(
    "109442",
    "TaintToleration, NodeAffinity, NodePorts and NodeResourcesFit register every update of a node",
    first_in="1.24",
    issues=(109437,),
    backports=("1.21.13", "1.22.10", "1.23.7"),
)
class OwnNodeUpdatesHeard(Hints):
    """Each asked for the kind of update that it looks at, NodePorts for none (1.22 and 1.23); in 1.21 NodeResourcesFit alone asked for
    anything.
    """

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        if _is_update(event) and plugin.name in _OF_ANY_UPDATE:
            return plugin.asked_for(event)
        return super().hears(plugin, event)


@before("121755", "the queue is notified of everything that an update of a node changes", first_in="1.30")
class FirstChangeOnly(NodeUpdates):
    """Of several changes in one update the queue was told of the first kind only."""

    def told_kinds(self, change: NodeChange) -> Sequence[NodeUpdate]:
        return super().told_kinds(change)[:1]


@before(
    "70366",
    "a node update wakes parked pods only if something changed that they may wait for",
    first_in="1.14",
    backports=("1.12.4", "1.13.1"),
)
class EveryUpdateTold(NodeUpdates):
    """Every update of a node moved every parked pod, also that the node is cordoned (1.9 to 1.13)."""

    def told_kinds(self, change: NodeChange) -> Sequence[NodeUpdate]:
        return super().told_kinds(change) or self.universe[NodeUpdate][:1]


@before(
    "127470",
    "a new node without the topology key of an anti-affinity term wakes the pod; so does an update that changes the domain of the node",
    first_in="1.33",
    since="1.32",
)
class KeyedNodesHelp(Hints):
    """InterPodAffinity looked only whether the new or updated node has the topology key of a term (1.32)."""

    def after_node(self, plugin: Plugin, pod: Pod, node: Node) -> Expr:
        if plugin.name == "InterPodAffinity":
            return as_expr(any(t.required and t.topology_key in node.labels for t in pod.terms))
        return super().after_node(plugin, pod, node)

    def is_in_other_domain(self, pod: Pod, change: NodeChange) -> bool:
        return any(t.required and t.topology_key in change.new.labels for t in pod.terms)
