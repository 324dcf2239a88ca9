"""Filters: does a pod fit on a node (framework/plugins: nodeunschedulable, tainttoleration, nodeaffinity, noderesources,
podtopologyspread, interpodaffinity; framework/runtime/framework.go, 1.34)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...environment.objects import NATIVE, Node, Pod, Taint, Term, node_or_none
from ...environment.placement_rules import SpreadConstraint
from ...language import Component, Expr, all_of, any_of, as_expr, count, select, smallest, total, when
from .placement import Placement
from .status import Code

if TYPE_CHECKING:
    from .interface import PodNominator


Plugin = Callable[[Pod, Node, Placement], Expr]
"""Gives the Code of a pod on a node."""

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable")


class Filters(Component):
    """The filter plugins."""

    nominator: PodNominator

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

    def rejected_by_with_nominated(self, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
        """For each plugin, whether it rejects the pod in the first of the two passes that one fails (see run_with_nominated)."""
        present = placement.present(pod, node)
        awaited = {
            q: here
            | (self.nominator.nominated_to(q, node) & (q.priority >= pod.priority) & (q.uid != pod.uid))
            for q, here in present.items()
        }
        first = self.rejected_by(pod, node, placement.with_present(node, awaited))
        second = self.rejected_by(pod, node, placement)
        passed = ~any_of(first.values())
        return {name: rejects | (passed & second[name]) for name, rejects in first.items()}

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

    # --- topology spread ---------------------------------------------------------------------------

    # Soft constraints (ScheduleAnyway) only score, and have no place in the model. Upstream counts once, in PreFilter, and
    # corrects the numbers for each pod that preemption takes away; the model counts the placement that it is given. The two
    # differ only for a victim that was terminating already, which upstream takes away although it never counted it.

    def topology_spread(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """UNRESOLVABLE where the node lacks a key, UNSCHEDULABLE where the pod would make some skew too great."""
        if not has_keys(node, pod):
            return as_expr(Code.UNRESOLVABLE)
        even = all_of(self.is_even(pod, c, node, placement) for c in pod.spread)
        return select(even, Code.SUCCESS, Code.UNSCHEDULABLE)

    def is_even(self, pod: Pod, constraint: SpreadConstraint, node: Node, placement: Placement) -> Expr:
        """Whether the skew stays within bounds if the pod goes to the node."""
        domains = self.domains(pod, constraint, placement)
        more = len(placement.on) + 1 + max(constraint.others.values(), default=0)
        least = as_expr(more)
        for exists, pods in domains.values():
            least = select(exists, smallest(least, pods), least)
        own = int(constraint.counts(pod.labels))
        here = domains.get(node.labels[constraint.topology_key])
        there = as_expr(0) if here is None else here[1]
        return there + own - least <= constraint.max_skew

    def counts_pods(self, constraint: SpreadConstraint) -> bool:
        """Whether the constraint counts any other pods at all; with an empty selector it counts nobody."""
        return not constraint.selector.empty

    def domains(
        self, pod: Pod, constraint: SpreadConstraint, placement: Placement
    ) -> dict[str, tuple[Expr, Expr]]:
        """By value of the constraint's key: whether some node that counts has it, and how many pods are on those nodes.

        Nodes count that have all keys of the pod's constraints and pass its node affinity (nodeAffinityPolicy Honor,
        nodeTaintsPolicy Ignore), pods if they are not terminating.
        """
        counts = self.counts_pods(constraint)
        found = {
            value: (as_expr(True), as_expr(number if counts else 0))
            for value, number in constraint.others.items()
        }
        counted = [
            q
            for q in placement.others(pod)
            if counts and q.namespace == pod.namespace and constraint.counts(q.labels)
        ]
        for node in placement.nodes:
            if not (has_keys(node, pod) and pod.asks_for(node)):
                continue
            live = placement.live[node]
            pods = count(placement.on[q][node] & live & ~placement.is_leaving(q) for q in counted)
            exists, others = found.get(node.labels[constraint.topology_key], (as_expr(False), as_expr(0)))
            found[node.labels[constraint.topology_key]] = any_of([exists, live]), others + pods
        return found


def has_keys(node: Node, pod: Pod) -> bool:
    """Whether the node has every topology key of the pod's constraints (nodeLabelsMatchSpreadConstraints)."""
    return all(c.topology_key in node.labels for c in pod.spread)


def is_meant(other: Pod, pod: Pod) -> bool:
    """Whether one of the pod's constraints means the other pod (podLabelsMatchSpreadConstraints)."""
    return other.namespace == pod.namespace and any(c.counts(other.labels) for c in pod.spread)
