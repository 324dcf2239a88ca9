"""Filters: does a pod fit on a node (framework/plugins: nodeunschedulable, tainttoleration, nodeaffinity,
noderesources, interpodaffinity; podtopologyspread is in `spread`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...environment.objects import NATIVE, Node, Pod, Taint, Term, node_or_none
from ...language import Expr, all_of, any_of, as_expr, count, select, total, when
from .placement import Placement
from .status import Code
from .topology_spread import TopologySpread

if TYPE_CHECKING:
    from ...environment.watch import NodeWatch
    from ..cache.snapshot import Snapshot
    from ..queue.nominator import Nominator

Plugin = Callable[[Pod, Node, Placement], Expr]
"""Gives the Code of a pod on a node."""

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable")


class Filters(TopologySpread):
    """The filter plugins."""

    snapshot: Snapshot
    nominator: Nominator
    node_watch: NodeWatch

    # --- the framework -----------------------------------------------------------------------------

    def plugins(self) -> dict[str, Plugin]:
        """The plugins by name, in the order in which they run (getDefaultPlugins, 1.22)."""
        return {
            "NodeUnschedulable": self.node_schedulable,
            "TaintToleration": self.taints_tolerated,
            "NodeAffinity": self.node_affinity,
            "NodeResourcesFit": self.node_resources,
            "PodTopologySpread": self.topology_spread,
            "InterPodAffinity": self.inter_pod_affinity,
        }

    def run(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """RunFilterPlugins: the Code of the first plugin that does not let the pod pass."""
        code = as_expr(Code.SUCCESS)
        for plugin in self.plugins().values():
            passed = code == Code.SUCCESS
            with when(passed):
                said = plugin(pod, node, placement)
            code = select(passed, said, code)
        return code

    def rejected_by(self, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
        """For each plugin, whether it is the one that rejects the pod."""
        found: dict[str, Expr] = {}
        passed = as_expr(True)
        for name, plugin in self.plugins().items():
            passes = plugin(pod, node, placement) == Code.SUCCESS
            found[name] = passed & ~passes
            passed = passed & passes
        return found

    def run_with_nominated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Both passes of the filter with nominated pods (RunFilterPluginsWithNominatedPods).

        First with every pod nominated to the node whose priority is not lower, then without them,
        because a nominated pod may never come and must not be what an affinity term relies on.
        """
        present = placement.present(pod, node)
        added = {
            q: self.nominator.nominated_to(q, node) & (q.priority >= pod.priority)
            for q in present
            if q.uid != pod.uid
        }
        some = any_of(added.values())
        joined = all_of(~a | (self.joins(pod, q, node) == Code.SUCCESS) for q, a in added.items())
        expected = {q: here | added.get(q, False) for q, here in present.items()}
        with when(joined):
            first = self.run(pod, node, placement.with_present(node, expected))
        again = some & joined & (first == Code.SUCCESS)
        with when(again):
            second = self.run(pod, node, placement)
        return select(joined, select(again, second, first), Code.ERROR)

    def joins(self, pod: Pod, nominated: Pod, node: Node) -> Expr:
        """AddPod of the plugins' PreFilter extensions: nothing to do, everything here works on placements."""
        return as_expr(Code.SUCCESS)

    def fits_with_nominated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Whether the pod passes, both times."""
        return self.run_with_nominated(pod, node, placement) == Code.SUCCESS

    def fits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """All filters, on this placement."""
        return self.run(pod, node, placement) == Code.SUCCESS

    def admits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """preCheckForNode: whether a new node is worth waking the pod for (taints, node affinity, resources).

        Neither spec.unschedulable nor inter-pod affinity is looked at.
        """
        checks = (self.taints_tolerated, self.node_affinity, self.node_resources)
        return all_of(check(pod, node, placement) == Code.SUCCESS for check in checks)

    def scheduling_error(self, pod: Pod, some_feasible: Expr) -> Expr:
        """Whether filtering and scoring end in an error rather than in a verdict: never for want of a node."""
        return as_expr(False)

    def missing_node(self, pod: Pod) -> Expr:
        """The node that such an error names as one that does not exist; none if it names none."""
        return node_or_none(None)

    # --- nodes -------------------------------------------------------------------------------------

    def node_schedulable(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeUnschedulable: spec.unschedulable counts as a taint."""
        tolerated = any(t.tolerates(UNSCHEDULABLE) for t in pod.tolerations)
        return as_expr(Code.UNRESOLVABLE if node.unschedulable and not tolerated else Code.SUCCESS)

    def taints_tolerated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """TaintToleration: every taint but those that are a mere preference is tolerated."""
        repels = any(
            taint.effect in ("NoSchedule", "NoExecute")
            and not any(t.tolerates(taint) for t in pod.tolerations)
            for taint in node.taints
        )
        return as_expr(Code.UNRESOLVABLE if repels else Code.SUCCESS)

    def node_affinity(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeAffinity: spec.nodeSelector and required node affinity; no eviction changes a node's labels."""
        return as_expr(Code.SUCCESS if pod.asks_for(node) else Code.UNRESOLVABLE)

    # --- resources ---------------------------------------------------------------------------------

    def node_resources(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeResourcesFit: nothing is insufficient."""
        insufficient = self.insufficient(pod, node, placement)
        return select(any_of(insufficient.values()), Code.UNSCHEDULABLE, Code.SUCCESS)

    def insufficient(self, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
        """Which of the node's resources the pod would exceed; `pods` stands for the number of pods.

        A pod that asks for nothing is only counted. Any other is refused by every native resource that is
        overcommitted, whether the pod asks for it or not.
        """
        present = placement.present(pod, node)
        asks = any_of(pod.request(r) > 0 for r in NATIVE) | (len(pod.resources) > len(NATIVE))
        found: dict[str, Expr] = {}
        if node.pods is not None:
            found["pods"] = count(present.values()) + 1 > node.pods
        for resource in pod.resources:
            used = total(select(here, q.request(resource), 0) for q, here in present.items())
            found[resource] = asks & (used + pod.request(resource) > node.allocatable(resource))
        return found

    # --- inter-pod affinity ------------------------------------------------------------------------

    def inter_pod_affinity(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """InterPodAffinity: the pod's required terms, and the anti-affinity terms of the pods around it.

        No eviction mends a required affinity term; anti-affinity ends with the pods that it is about.
        """
        own = [
            ~self.matched_in_domain(pod, term, node, placement)
            for term in pod.terms
            if term.required and term.anti
        ]
        theirs = [
            ~self.in_domain(term, node, other, placement)
            for other in placement.others(pod)
            for term in other.terms
            if term.required and term.anti and term.matches(pod)
        ]
        apart = select(all_of([*own, *theirs]), Code.SUCCESS, Code.UNSCHEDULABLE)
        return select(self.affinity_holds(pod, node, placement), apart, Code.UNRESOLVABLE)

    def in_domain(self, term: Term, node: Node, other: Pod, placement: Placement) -> Expr:
        """Whether `other` is on a live node that has the same value of the topology key as `node`."""
        value = node.labels.get(term.topology_key)
        if value is None:
            return as_expr(False)
        return any_of(
            placement.on[other][n] & placement.live[n]
            for n in placement.nodes
            if n.labels.get(term.topology_key) == value
        )

    def matched_in_domain(self, pod: Pod, term: Term, node: Node, placement: Placement) -> Expr:
        """Whether a pod that the term means is in the domain of `node`."""
        meant = [q for q in placement.others(pod) if term.matches(q)]
        return any_of(self.in_domain(term, node, q, placement) for q in meant)

    def affinity_holds(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """The required affinity terms: other pods must match all of them at once.

        Where no pod anywhere does, the pod itself may be the first of its kind.
        """
        terms = [term for term in pod.terms if term.required and not term.anti]
        if any(term.topology_key not in node.labels for term in terms):
            return as_expr(False)
        matching = [q for q in placement.others(pod) if all(term.matches(q) for term in terms)]
        held = all_of(any_of(self.in_domain(t, node, q, placement) for q in matching) for t in terms)
        if not all(term.matches(pod) for term in terms):
            return held
        keys = {term.topology_key for term in terms}
        anywhere = any_of(
            placement.on[q][n] & placement.live[n]
            for q in matching
            for n in placement.nodes
            if keys & n.labels.keys()
        )
        return held | ~anywhere
