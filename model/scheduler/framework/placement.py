"""Placements: which pods are on which nodes, from somebody's point of view.

Filters work on a placement, so that the same rules answer for a snapshot, for a snapshot without
victims, and for what is really bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...environment.objects import Node, Pod
from ...language import Expr, as_expr


@dataclass(frozen=True)
class Placement:
    """`on[pod][node]`: the pod counts on the node. `live[node]`: the node has a Node object. `leaving[pod]`: it terminates."""

    on: Mapping[Pod, Mapping[Node, Expr]]
    live: Mapping[Node, Expr]
    leaving: Mapping[Pod, Expr] = field(default_factory=dict)

    @property
    def nodes(self) -> list[Node]:
        """Every node."""
        return list(self.live)

    def others(self, pod: Pod) -> list[Pod]:
        """Every pod but this one."""
        return [q for q in self.on if q is not pod]

    def present(self, pod: Pod, node: Node) -> dict[Pod, Expr]:
        """For each other pod, whether it counts on the node."""
        return {q: self.on[q][node] for q in self.others(pod)}

    def is_leaving(self, pod: Pod) -> Expr:
        """Whether the pod terminates; not where nothing is said of it."""
        return as_expr(self.leaving.get(pod, False))

    def with_present(self, node: Node, present: Mapping[Pod, Expr]) -> Placement:
        """The same, except for which of these pods count on one node."""
        changed = {
            q: {**row, node: as_expr(present[q])} if q in present else row for q, row in self.on.items()
        }
        return replace(self, on=changed)
