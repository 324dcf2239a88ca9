"""Filters: does a pod fit on a node (framework/plugins/noderesources, interpodaffinity).

`present` tells, for each other pod, whether it counts as being on the node in question: the snapshot's
pods, with nominated pods added or victims removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..environment.objects import Node, Pod, Term
from ..language import Component, Expr, all_of, any_of, as_expr, select, total

if TYPE_CHECKING:
    from ..environment.watch import NodeWatch
    from .nominator import Nominator
    from .snapshot import Snapshot

Presence = Mapping[Pod, Expr]


class Filters(Component):
    """The filter plugins, run on the snapshot."""

    snapshot: Snapshot
    nominator: Nominator
    node_watch: NodeWatch

    def others(self, pod: Pod) -> list[Pod]:
        """Every pod but this one."""
        return [q for q in self.universe[Pod] if q is not pod]

    def present_in_snapshot(self, pod: Pod, node: Node) -> dict[Pod, Expr]:
        """The other pods on the node, as the snapshot has them."""
        return {q: self.snapshot.on(q, node) for q in self.others(pod)}

    def fits_with_nominated(self, pod: Pod, node: Node, present: Presence) -> Expr:
        """Both passes of the filter with nominated pods (PodPassesFiltersOnNode, generic_scheduler.go).

        First with every pod nominated to the node whose priority is not lower, then without them,
        because a nominated pod may never come and must not be what an affinity term relies on.
        """
        nominated = {
            q: self.nominator.nominated_to(q, node) & (q.priority >= pod.priority) for q in self.others(pod)
        }
        first = self.fits(pod, node, {q: present[q] | nominated[q] for q in present})
        return first & self.fits(pod, node, present)

    def fits(self, pod: Pod, node: Node, present: Presence) -> Expr:
        """All filters, with these other pods on the node."""
        return self.resources_fit(pod, node, present) & self.pod_affinity_fits(pod, node, present)

    def resources_fit(self, pod: Pod, node: Node, present: Presence) -> Expr:
        """NodeResourcesFit: the requests add up to at most what is allocatable."""
        used = total(select(here, q.cpu, 0) for q, here in present.items())
        return used + pod.cpu <= node.cpu

    # --- inter-pod affinity ------------------------------------------------------------------------

    def same_domain(self, term: Term, a: Node, b: Node) -> bool:
        """Whether two nodes carry the same value of the term's topology key."""
        value = a.labels.get(term.topology_key)
        return value is not None and value == b.labels.get(term.topology_key)

    def in_domain(self, term: Term, node: Node, other: Pod, present: Presence) -> Expr:
        """Whether `other` is in the domain of `node`, with the pods of `node` itself as in `present`."""
        elsewhere = [
            self.snapshot.on(other, n) & self.snapshot.live[n]
            for n in self.universe[Node]
            if n is not node and self.same_domain(term, n, node)
        ]
        here = present[other] if self.same_domain(term, node, node) else as_expr(False)
        return any_of([here, *elsewhere])

    def pod_affinity_fits(self, pod: Pod, node: Node, present: Presence) -> Expr:
        """InterPodAffinity: the pod's required terms, and the anti-affinity terms of the pods around it."""
        checks = []
        for term in pod.terms:
            if term.required:
                matching = any_of(
                    self.in_domain(term, node, q, present) for q in self.others(pod) if term.selects(q.labels)
                )
                checks.append(~matching if term.anti else matching | self.first_of_its_kind(pod, term))
        for other in self.others(pod):
            for term in other.terms:
                if term.required and term.anti and term.selects(pod.labels):
                    checks.append(~self.in_domain(term, node, other, present))
        return all_of(checks)

    def first_of_its_kind(self, pod: Pod, term: Term) -> Expr:
        """An affinity term that selects the pod itself holds while no other pod in the cluster matches it."""
        if not term.selects(pod.labels):
            return as_expr(False)
        return ~any_of(
            self.snapshot.on(q, n) & self.snapshot.live[n]
            for q in self.others(pod)
            if term.selects(q.labels)
            for n in self.universe[Node]
        )

    def preemption_may_help(self, pod: Pod, node: Node) -> Expr:
        """nodesWherePreemptionMightHelp: not where a required affinity term fails, which no eviction mends."""
        present = self.present_in_snapshot(pod, node)
        return all_of(
            any_of(self.in_domain(term, node, q, present) for q in self.others(pod) if term.selects(q.labels))
            | self.first_of_its_kind(pod, term)
            for term in pod.terms
            if term.required and not term.anti
        )

    def scheduling_error(self, pod: Pod, some_feasible: Expr) -> Expr:
        """Whether filtering and scoring end in an error rather than in a verdict: never for want of a node."""
        return as_expr(False)
