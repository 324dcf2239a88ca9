"""cluster-autoscaler's way with empty nodes: it looks for a node on which nobody is, and takes it away.

When cluster-autoscaler decides, a pod counts as being on a node if it is bound there, or waits nominated to it (core/podlistprocessor/filter_out_expendable.go). It taints the node, and its
actuator (core/scaledown/actuation/actuator.go) looks once more, at bound pods alone, before it deletes the node; between that look and the deletion there is more to do. The second look of the
model (`scale_down_looks_again`) is that of a better autoscaler: it counts nominations as well, and is one step with the deletion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import (
    Component,
    Expr,
    Words,
    any_of,
    as_expr,
    boolean,
    per,
    require,
    step,
    tells,
    when,
    words,
)
from .faults import Fault
from .objects import Node, Pod

if TYPE_CHECKING:
    from .api import APIServer
    from .faults import Faults


def _scales(scope: object) -> int:
    return int(getattr(scope, "scale_downs", 0) > 0)


class Autoscaler(Component):
    """`doomed[n]`: the autoscaler has found the node empty, and is about to take it away."""

    api: APIServer
    faults: Faults

    doomed = per(Node, boolean(possible=_scales))

    phrases = words({"doomed": Words("the autoscaler has found {0} empty", "", decisive=True)})

    def looks_empty(self, node: Node) -> Expr:
        """Whether the API server shows nobody on the node, and nobody who is to go there."""
        pods = (self.api.pod[p] for p in self.universe[Pod])
        return ~any_of(p.exists & ((p.node == node) | (p.pending & (p.nominated == node))) for p in pods)

    @step(actor="autoscaler", fair=False)
    @tells("The autoscaler finds that {node} is empty.")
    def find_empty(self, node: Node) -> None:
        """The loop decides on a node."""
        if not self.scope.scale_downs:
            require(False)
            return
        require(self.api.node_exists[node] & ~as_expr(self.doomed[node]) & self.looks_empty(node))
        self.faults.spend(Fault.SCALE_DOWN)
        self.doomed[node] = True

    @step(actor="autoscaler", each="node")
    @tells("The autoscaler takes {node} away.")
    def take_away(self, node: Node) -> None:
        """The node is deleted, at once after a second look where the scope has `scale_down_looks_again`."""
        if not self.scope.scale_downs:
            require(False)
            return
        require(self.doomed[node])
        if self.scope.scale_down_looks_again:
            require(self.looks_empty(node))
        self.doomed[node] = False
        with when(self.api.node_exists[node]):
            self.api.write_node(node, exists=False)

    @step(actor="autoscaler", each="node")
    @tells("The autoscaler finds somebody on {node}, and leaves it.")
    def spare(self, node: Node) -> None:
        """The second look finds that the node is not empty any more."""
        if not self.scope.scale_downs or not self.scope.scale_down_looks_again:
            require(False)
            return
        require(self.doomed[node] & ~self.looks_empty(node))
        self.doomed[node] = False
