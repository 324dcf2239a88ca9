"""The filter PodTopologySpread (framework/plugins/podtopologyspread/filtering.go, 1.34)."""

from __future__ import annotations

from ...environment.objects import Node, Pod
from ...environment.spread import SpreadConstraint
from ...language import Component, Expr, all_of, any_of, as_expr, count, select, smallest
from .placement import Placement
from .status import Code


class TopologySpread(Component):
    """Hard topology spread constraints. Soft ones (ScheduleAnyway) only score, and have no place in the model.

    Upstream counts once, in PreFilter, and corrects the numbers for each pod that preemption takes away; the model
    counts the placement that it is given. The two differ only for a victim that was terminating already, which upstream
    takes away although it never counted it.
    """

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
