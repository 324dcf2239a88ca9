"""What a cluster can come to: not a property, but what a change to the scheduler may take away without violating any."""

from __future__ import annotations

from ..model.language import Expr, as_expr
from .property import Property


class Outcomes(Property):
    """Every pod that waits at the start, or comes later, can be bound, deleted by preemption apart."""

    id = "OUTCOMES"

    def holds(self) -> Expr:
        return as_expr(True)

    def witnesses(self) -> dict[str, Expr]:
        return {f"{p.name} is bound": self.api.pod[p].node.is_some for p in self.pods if p.node is None}
