"""How many feasible nodes were enough in a release, where a row of upstream's tests asks for the number.

Follows numFeasibleNodesToFind in pkg/scheduler/core/generic_scheduler.go (1.13, 1.18). The model's own cycles have fewer nodes than any release samples.
"""

from __future__ import annotations

from podrace.model.history.versions import version_of
from podrace.model.language import Expr, Value, as_expr
from podrace.model.scheduler import Sampling


class UnsetIsAll(Sampling):
    """A percentage that is not set meant all nodes: none was derived from their number before 72140 (1.14)."""

    def wanted(self, nodes: Value) -> Expr:
        return super().wanted(nodes) if self.scope.config.percentage_of_nodes > 0 else as_expr(nodes)


class AllAreTried(Sampling):
    """A cycle tried all nodes, whatever their number: percentageOfNodesToScore is of 1.12."""

    def wanted(self, nodes: Value) -> Expr:
        return as_expr(nodes)


_SHARES: tuple[tuple[str, type[Sampling]], ...] = (("1.12", AllAreTried), ("1.14", UnsetIsAll))


def sampled_shares(release: str) -> list[type[Sampling]]:
    """The rule of a release, where it is not that of `Sampling`."""
    return [rule for first_in, rule in _SHARES if version_of(release) < version_of(first_in)][:1]
