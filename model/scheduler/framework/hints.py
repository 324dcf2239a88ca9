"""Queueing hints (the QueueingHintFn of each plugin in framework/plugins, 1.37): whether an event may make a pod fit that a plugin rejected.

A hint looks at the pod and at the object that the event is about, never at the cache. The ones here are those of
events that the model has: an assigned pod comes or goes or is updated, a pod that waits is updated itself, a node is added, removed or updated.
"""

from collections.abc import Iterable

from ...environment.cluster.node_versions import NodeChange
from ...environment.cluster.pod_versions import PodChange
from ...environment.objects import NATIVE, Node, Pod, PodGroup, Term
from ...environment.pod_groups import Member
from ...environment.storage.claims import ClaimChange
from ...environment.storage.csi_nodes import CsiLimit
from ...environment.storage.volumes import VolumeClaimChange
from ...language import Component, Expr, all_of, any_of, as_expr
from .events import (
    DEFAULT_PREEMPTION,
    GANG_SCHEDULING,
    NODE_DECLARED_FEATURES,
    NODE_PORTS,
    NODE_VOLUME_LIMITS,
    UNSCHEDULED_POD_ADD,
    VOLUME_RESTRICTIONS,
    WAITING_POD_GONE,
    About,
    Action,
    ClusterEvent,
    Plugin,
)
from .filters import UNSCHEDULABLE, Filters, has_keys, is_meant
from .placement import Placement
from .status import Code

ABOUT_ASSIGNED_PODS = ("PodTopologySpread", "InterPodAffinity")
"""The plugins whose hints for pods ask whether the pod has a node."""


class Hints(Component):
    """Queueing hints: each plugin's answer about an event for which it registered."""

    filters: Filters

    def wakes(self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About) -> Expr:
        """Whether `plugin`, if it rejected `pod`, wants it tried again after the event.

        An event about nothing in particular, and a plugin without a hint of its own, say yes. DefaultPreemption always says no
        (isPodSchedulableAfterPodDeletion; in 1.32 and 1.33 it asked for no event): whom it rejected only a wildcard event moves.
        A pod that had a nomination only counts like one on a node, with the terms of both pods.
        """
        if event.is_wildcard:
            return as_expr(True)
        if not self.hears(plugin, event):
            return as_expr(False)
        if self.hears_taints_too(plugin, event):
            return as_expr(True)
        if isinstance(about, ClaimChange):
            return self.after_claim(pod, about)
        if isinstance(about, VolumeClaimChange):
            return as_expr(about.claim.name in pod.volumes)
        if isinstance(about, CsiLimit):
            return as_expr(about.last > (about.first or 0))
        if plugin.name == GANG_SCHEDULING:
            return as_expr(self.is_of_group(pod, about))
        if event == UNSCHEDULED_POD_ADD:
            return as_expr(plugin.name not in ABOUT_ASSIGNED_PODS)
        if self.is_own_spread(plugin, pod, about):
            return as_expr(True)
        if event == WAITING_POD_GONE:
            return as_expr(
                plugin.name not in ("NodeResourcesFit", NODE_PORTS, NODE_VOLUME_LIMITS, *ABOUT_ASSIGNED_PODS)
            )
        if isinstance(about, Node):
            return self.after_node(plugin, pod, about)
        if isinstance(about, NodeChange):
            return self.after_update(plugin, pod, about)
        if isinstance(about, PodChange):
            return self.after_pod_update(plugin, pod, about)
        if isinstance(about, Pod) and plugin.name == "InterPodAffinity":
            return self.after_pod(pod, about, event)
        if isinstance(about, Pod) and plugin.name == "PodTopologySpread":
            return as_expr(is_meant(about, pod))
        if isinstance(about, Pod) and plugin.name == VOLUME_RESTRICTIONS:
            return as_expr(not set(about.volumes).isdisjoint(pod.volumes))
        if isinstance(about, Pod) and plugin.name == NODE_VOLUME_LIMITS:
            return as_expr(bool(about.volumes))
        if isinstance(about, Pod) and plugin.name == NODE_PORTS:
            return as_expr(self.filters.is_port_conflict(pod, about))
        return as_expr(True)

    def is_own_spread(self, plugin: Plugin, pod: Pod, about: About) -> bool:
        """Whether PodTopologySpread counts the event as one about the pod itself, which it checks like any other pod."""
        return False

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        """Whether the plugin registered for the event, unless it is a wildcard. DefaultPreemption accepts no event."""
        heard = plugin.asked_for(event) or self.hears_taints_too(plugin, event)
        return plugin.name != DEFAULT_PREEMPTION and heard

    def hears_taints_too(self, plugin: Plugin, event: ClusterEvent) -> bool:
        """Whether a plugin that did not register for changed taints still gets such events: no, because no pre-check hides new nodes any more."""
        return False

    def after_claim(self, pod: Pod, change: ClaimChange) -> Expr:
        """isSchedulableAfterClaimChange: whether a claim was deallocated, one of the pod's claims was created, or its status changed.

        That the pod's claims are all there is asked first, when the pod is moved or comes back (`Moves.may_hear`, `PriorityQueue.still_hears`).
        """
        own = as_expr(change.claim.name in pod.claims and not change.claim.special)
        if change.added is None or change.gone is None:
            return change.deallocated | (change.differs & own)
        return change.deallocated | (own & (change.added | (change.differs & ~change.gone)))

    def after_pod(self, pod: Pod, other: Pod, event: ClusterEvent) -> Expr:
        """InterPodAffinity: whether this pod's affinity selects the new pod, or anti-affinity between this pod and the deleted one ends."""
        if event.action == Action.DELETE:
            return as_expr(self.keeps_out(pod, other) or self.keeps_out(other, pod))
        return as_expr(self.matches_all(pod, other, anti=False))

    def keeps_out(self, pod: Pod, other: Pod) -> bool:
        """podMatchesAnyAffinityTerms: whether one of the pod's anti-affinity terms selects the other pod."""
        return any(self.means(term, other) for term in pod.terms if term.required and term.anti)

    def matches_all(self, pod: Pod, other: Pod, *, anti: bool) -> bool:
        """podMatchesAllAffinityTerms: whether there are such terms, and all of them select the other pod."""
        terms = [term for term in pod.terms if term.required and term.anti == anti]
        return bool(terms) and all(self.means(term, other) for term in terms)

    def means(self, term: Term, other: Pod) -> bool:
        """Whether a term selects another pod. The labels of its namespace come from the informer's store (namespaceLabelsForNamespace, 1.38)."""
        return term.matches(other)

    def after_pod_update(self, plugin: Plugin, pod: Pod, change: PodChange) -> Expr:
        """A pod was updated: a pod that waits (isSchedulableAfterTargetPodUpdate and others), or a pod on a node (isSchedulableAfterAssignedPodChange)."""
        old, new = change.old, change.new
        own = self.is_target(pod, change)
        if plugin.name == "NodeUnschedulable":
            return as_expr(own and any(t.tolerates(UNSCHEDULABLE) for t in new.tolerations))
        if plugin.name == "TaintToleration":
            return as_expr(own)
        if plugin.name == "NodeResourcesFit":
            return as_expr(own) | (has_less(pod, old, new) if change.assigned else as_expr(False))
        if plugin.name == "InterPodAffinity":
            if own and self.hears_own_labels():
                return as_expr(True)
            return as_expr(change.assigned and self.mends_affinity(pod, old, new))
        if plugin.name == "PodTopologySpread":
            if own and old.tolerations != new.tolerations and any(c.honors_taints for c in pod.spread):
                return as_expr(True)
            involved = own or (change.assigned and new.namespace == pod.namespace)
            return as_expr(involved and any(c.counts(old.labels) != c.counts(new.labels) for c in pod.spread))
        return as_expr(True)

    def is_target(self, pod: Pod, change: PodChange) -> bool:
        """Whether the hint counts the update as one of the pod itself.

        The event of a TargetPod is kept for all pods in flight, and no hint asks whose it is: the update of one has the others tried again.
        """
        return not change.assigned

    def hears_own_labels(self) -> bool:
        """Whether InterPodAffinity wants a pod tried again after its own labels changed, because other pods' terms may have rejected the old labels."""
        return True

    def mends_affinity(self, pod: Pod, old: Pod, new: Pod) -> bool:
        """InterPodAffinity: whether the updated pod now matches this pod's affinity, or no longer matches its anti-affinity."""
        joins = not self.matches_all(pod, old, anti=False) and self.matches_all(pod, new, anti=False)
        parts = self.keeps_out(pod, old) and not self.keeps_out(pod, new)
        return joins or parts

    def after_node(self, plugin: Plugin, pod: Pod, node: Node) -> Expr:
        """A node was added, or removed (isSchedulableAfterNodeChange with one node only)."""
        if plugin.name == "NodeUnschedulable":
            return as_expr(not node.unschedulable)
        if plugin.name == "TaintToleration":
            return self.filters.taints_tolerated(pod, node, Placement({}, {})) == Code.SUCCESS
        if plugin.name == "NodeAffinity":
            return as_expr(pod.asks_for(node))
        if plugin.name == "NodeResourcesFit":
            enough = all_of(pod.request(r) <= node.allocatable(r) for r in pod.resources)
            return enough if node.pods is None else enough & (node.pods >= 1)
        if plugin.name == "PodTopologySpread":
            return as_expr(has_keys(node, pod))
        if plugin.name == "InterPodAffinity":
            required = [term for term in pod.terms if term.required]
            return as_expr(any(term.anti or term.topology_key in node.labels for term in required))
        return as_expr(True)

    def after_update(self, plugin: Plugin, pod: Pod, change: NodeChange) -> Expr:
        """A node was updated (isSchedulableAfterNodeChange with both nodes): whether the plugin's reason to reject the pod is gone."""
        old, new = change.old, change.new
        if plugin.name == "NodeUnschedulable":
            return as_expr(old.unschedulable and not new.unschedulable)
        if plugin.name in ("TaintToleration", "NodeAffinity"):
            return ~self.after_node(plugin, pod, old) & self.after_node(plugin, pod, new)
        if plugin.name == "NodeResourcesFit":
            return self.after_node(plugin, pod, new) & has_more(pod, change)
        if plugin.name == "PodTopologySpread":
            keys = {constraint.topology_key for constraint in pod.spread}
            changed = is_moved(keys, change) or old.taints != new.taints
            return as_expr(has_keys(old, pod) != has_keys(new, pod) or (has_keys(new, pod) and changed))
        if plugin.name == "InterPodAffinity":
            return as_expr(self.is_in_other_domain(pod, change))
        if plugin.name == NODE_DECLARED_FEATURES:
            return as_expr(old.features != new.features)
        return as_expr(True)

    def wakes_nominee(self, plugin: Plugin, pod: Pod, change: NodeChange) -> Expr:
        """Whether NodeResourcesFit has a pod tried again that is nominated to the node, so that it preempts elsewhere (1.38).

        The pod fitted on the node, were it empty, and now has too little there of a native resource; pods of groups are left out.
        """
        if plugin.name != "NodeResourcesFit" or pod.group is not None:
            return as_expr(False)
        short = any_of(pod.request(r) > change.new.allocatable(r) for r in NATIVE)
        return self.after_node(plugin, pod, change.old) & short

    def is_of_group(self, pod: Pod, about: About) -> bool:
        """isSchedulableAfterPodAdded and isSchedulableAfterPodGroupAdded of GangScheduling: the event is about the group of the pod, or another below the same root (areSameHierarchy)."""
        if isinstance(about, PodGroup):
            return pod.group == about.name
        roots = {member.pod.name: member.group for member in self.universe[Member]}
        return isinstance(about, Pod) and pod.group is not None and roots[pod.name] is roots.get(about.name)

    def is_in_other_domain(self, pod: Pod, change: NodeChange) -> bool:
        """Whether the node has joined a domain of one of the pod's affinity terms, or has left a domain of one of its anti-affinity terms."""
        required = [term for term in pod.terms if term.required]
        together = {t.topology_key for t in required if not t.anti}
        apart = {t.topology_key for t in required if t.anti}
        old, new = change.old.labels, change.new.labels
        return any(key in new and old.get(key) != new[key] for key in together) or any(
            key in old and old[key] != new.get(key) for key in apart
        )


def has_more(pod: Pod, change: NodeChange) -> Expr:
    """haveAnyRequestedResourcesIncreased: the node admits more pods, or has more of what the pod asks for."""
    old, new = change.old, change.new
    grown = [(pod.request(r) > 0) & (new.allocatable(r) > old.allocatable(r)) for r in pod.resources]
    if old.pods is not None:
        grown.append(as_expr(True) if new.pods is None else new.pods > old.pods)
    return any_of(grown)


def has_less(pod: Pod, old: Pod, new: Pod) -> Expr:
    """isSchedulableAfterPodScaleDown: the other pod asks for less of something that this pod asks for."""
    return any_of((pod.request(r) > 0) & (old.request(r) > new.request(r)) for r in pod.resources)


def is_moved(keys: Iterable[str], change: NodeChange) -> bool:
    """checkTopologyKeyLabelsChanged: the node has another value of one of these keys."""
    return any(change.old.labels.get(key) != change.new.labels.get(key) for key in keys)
