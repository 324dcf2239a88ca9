"""How many nodes a cycle examines, and where it begins (numFeasibleNodesToFind, nextStartNodeIndex).

Below 100 nodes every cycle examines all of them, so that the index never moves. The scheduling cycle of the model
takes that for granted: more nodes than that cannot be explored.
"""

from collections.abc import Sequence

from ....base.structs import Data
from ...language import UNTOLD, Component, Expr, Value, as_expr, clamp, count, integer, largest, select, total

MIN_FEASIBLE_NODES = 100
MIN_FEASIBLE_PERCENTAGE = 5
DEFAULT_PERCENTAGE = 50
NODES_PER_PERCENT = 125
MAX_INDEX = 1 << 20


class Walk(Data):
    """A walk through the list of nodes: how many feasible ones were kept, how many were processed."""

    found: Expr
    processed: Expr


class Sampling(Component):
    """The index of the first node that the next cycle tries."""

    start = integer(0, MAX_INDEX)

    phrases = UNTOLD

    def wanted(self, nodes: Value) -> Expr:
        """How many feasible nodes are enough for a given number of nodes."""
        given = self.scope.config.percentage_of_nodes
        all_nodes = as_expr(nodes)
        if given >= 100:
            return all_nodes
        percentage: Expr | int = given
        if given <= 0:
            percentage = largest(DEFAULT_PERCENTAGE - all_nodes // NODES_PER_PERCENT, MIN_FEASIBLE_PERCENTAGE)
        share = largest(all_nodes * percentage // 100, MIN_FEASIBLE_NODES)
        return select(all_nodes < MIN_FEASIBLE_NODES, all_nodes, share)

    def walk(self, feasible: Sequence[Value]) -> Walk:
        """Try nodes from index `start` in the order of the list, and again from its beginning, until enough are feasible.

        Ends at the first feasible node that is one too many; the next cycle begins behind the last that counted.
        """
        fits = [as_expr(f) for f in feasible]
        length, start = len(fits), self.start
        wanted = self.wanted(length)
        before = [as_expr(0)]
        for f in fits:
            before.append(before[-1] + select(f, 1, 0))
        skipped = total(select(start == i, before[i], 0) for i in range(length))
        ahead = [
            select(start <= i, before[i] - skipped, before[length] - skipped + before[i])
            for i in range(length)
        ]
        found = count(f & (a < wanted) for f, a in zip(fits, ahead, strict=True))
        failed = count(~f & (a <= wanted) for f, a in zip(fits, ahead, strict=True))
        following = start + found + failed
        self.start = clamp(select(following >= length, following - length, following), 0, MAX_INDEX)
        return Walk(found, found + failed)
