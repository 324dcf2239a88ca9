"""Cycles as they went through the cache's tree of nodes itself, and not through a list in the snapshot (1.12 to 1.16)."""

from __future__ import annotations

from ....environment.objects import Node, Pod, Scope
from ....language import Expr, Value, all_of, as_expr, require, select, step, tells, when
from ....scheduler import Scheduler
from ....scheduler.framework.status import NodeStatus, Phase
from ...registry.change import before, no
from .kept import LIST_IN_SNAPSHOT, KeptSnapshot, nodes_come, nodes_go


@before("84014", LIST_IN_SNAPSHOT, first_in="1.17", issues=(83922, 86919), since="1.12")
class NodesFromLiveTree(Scheduler):
    """A cycle went through the cache's tree of nodes as it was by then, with the snapshot that it had taken before (1.12 to 1.16).

    A node that had come since has no NodeInfo in the snapshot, and no pod fits there (ErrNodeUnknownCondition); one that had gone was
    not tried. Upstream asks the tree for one node after the other; here the whole tree is read in one step. Preemption asked the cache for
    its nodes once more, and tried also those of which nothing had been said.
    """

    snapshot: SnapshotWithoutTree

    def has_no_nodes(self) -> Expr:
        return all_of(~self.cache.live[n] for n in self.universe[Node])

    def first_filtering(self) -> Expr:
        return as_expr(Phase.LISTED) if nodes_change(self.scope) else super().first_filtering()

    @step(actor="scheduler")
    @tells("The scheduler asks the cache which nodes there are to try for {pod}.")
    def list_tree(self, pod: Pod) -> None:
        """Read the live tree of nodes: these will be tried."""
        require(nodes_change(self.scope))
        require(self.at(Phase.LISTED, pod))
        self.snapshot.read_tree()
        self.phase = select(super().has_no_nodes(), self.phase_after_fit_error(), super().first_filtering())

    def begin_preemption(self, pod: Pod, exists: Value, nominated: Value) -> None:
        if nodes_change(self.scope):
            for node in self.universe[Node]:
                known = self.snapshot.live[node] & self.cache.live[node]
                with when(known & ~self.snapshot.listed[node]):
                    self.snapshot.listed[node] = True
                    self.verdict[node] = NodeStatus.REJECTED
        super().begin_preemption(pod, exists, nominated)

    def _filtered(self, pod: Pod, node: Node) -> Expr:
        found = super()._filtered(pod, node)
        return select(self.snapshot.live[node], found, NodeStatus.UNRESOLVABLE)


@before("84014", LIST_IN_SNAPSHOT, first_in="1.17", issues=(83922, 86919), since="1.12")
class SnapshotWithoutTree(KeptSnapshot):
    """The snapshot held NodeInfos only, and PreFilter plugins went through all of them."""

    reads_list = no

    def list_nodes(self) -> None:
        if not nodes_change(self.scope):
            super().list_nodes()


def nodes_change(scope: Scope) -> bool:
    """Whether nodes may come or go in a run; where they stay, the list may be read at any time."""
    return nodes_come(scope) or nodes_go(scope)
