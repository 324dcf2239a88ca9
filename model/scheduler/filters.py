"""Filters: does a pod fit on a node (framework/plugins/noderesources and interpodaffinity, 1.19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.objects import Node, Pod, Term
from ..language import Component, Expr, all_of, any_of, as_expr, select, total
from .placement import Placement

if TYPE_CHECKING:
    from ..environment.watch import NodeWatch
    from .nominator import Nominator
    from .snapshot import Snapshot


class Filters(Component):
    """The filter plugins."""

    snapshot: Snapshot
    nominator: Nominator
    node_watch: NodeWatch

    def fits_with_nominated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Both passes of the filter with nominated pods (podPassesFiltersOnNode, generic_scheduler.go).

        First with every pod nominated to the node whose priority is not lower, then without them,
        because a nominated pod may never come and must not be what an affinity term relies on.
        """
        present = placement.present(pod, node)
        expected = {
            q: here | (self.nominator.nominated_to(q, node) & (q.priority >= pod.priority))
            for q, here in present.items()
        }
        first = self.fits(pod, node, placement.with_present(node, expected))
        return first & self.fits(pod, node, placement)

    def fits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """All filters, on this placement."""
        return self.resources_fit(pod, node, placement) & self.pod_affinity_fits(pod, node, placement)

    def rejected_by(self, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
        """For each plugin, in the order in which they run, whether it is the one that rejects the pod."""
        resources, affinity = (
            self.resources_fit(pod, node, placement),
            self.pod_affinity_fits(pod, node, placement),
        )
        return {"NodeResourcesFit": ~resources, "InterPodAffinity": resources & ~affinity}

    def resources_fit(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeResourcesFit: the requests add up to at most what is allocatable."""
        used = total(select(here, q.cpu, 0) for q, here in placement.present(pod, node).items())
        return used + pod.cpu <= node.cpu

    # --- inter-pod affinity ------------------------------------------------------------------------

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
        """Whether a pod that the term selects is in the domain of `node`."""
        selected = [q for q in placement.others(pod) if term.selects(q.labels)]
        return any_of(self.in_domain(term, node, q, placement) for q in selected)

    def pod_affinity_fits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """InterPodAffinity: the pod's required terms, and the anti-affinity terms of the pods around it."""
        own = [
            ~self.matched_in_domain(pod, term, node, placement)
            if term.anti
            else self.affinity_term_holds(pod, term, node, placement)
            for term in pod.terms
            if term.required
        ]
        theirs = [
            ~self.in_domain(term, node, other, placement)
            for other in placement.others(pod)
            for term in other.terms
            if term.required and term.anti and term.selects(pod.labels)
        ]
        return all_of([*own, *theirs])

    def affinity_term_holds(self, pod: Pod, term: Term, node: Node, placement: Placement) -> Expr:
        """A required affinity term: matched in the domain, or by the pod itself while nobody matches it."""
        matched = self.matched_in_domain(pod, term, node, placement)
        if not term.selects(pod.labels):
            return matched
        anywhere = any_of(
            placement.on[q][n] & placement.live[n]
            for q in placement.others(pod)
            if term.selects(q.labels)
            for n in placement.nodes
        )
        return matched | ~anywhere

    def preemption_may_help(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """nodesWherePreemptionMightHelp: not where a required affinity term fails, which no eviction mends."""
        return all_of(
            self.affinity_term_holds(pod, term, node, placement)
            for term in pod.terms
            if term.required and not term.anti
        )

    def scheduling_error(self, pod: Pod, some_feasible: Expr) -> Expr:
        """Whether filtering and scoring end in an error rather than in a verdict: never for want of a node."""
        return as_expr(False)
