"""The snapshot of a cycle, as it was: nodes that were removed, but whose pods the cache still knew."""

from ....environment.objects import Node, Pod
from ....language import Expr, as_expr, count, when
from ....scheduler import Scheduler
from ....scheduler.framework.status import NodeStatus
from ...registry.change import before, no
from .kept import KeptSnapshot, nodes_go


class RemovedNodesCounted(KeptSnapshot):
    """The size of the snapshot was compared with the number of NodeInfos, ghosts of removed nodes included.

    A removed node with pods stayed in the snapshot, as it was when it was last copied. Where no node can be removed, the snapshot
    is a full copy, which is the same and remembers nothing.
    """

    def remembers(self) -> bool:
        return nodes_go(self.scope) or super().remembers()

    def expected_size(self) -> Expr:
        return count(self.cache.has_entry(n) for n in self.universe[Node])

    def is_gone(self, node: Node) -> Expr:
        return ~self.cache.has_entry(node)


@before(
    "95130",
    "a removed node leaves the snapshot although the cache remembers its pods",
    first_in="1.20",
    issues=(95124,),
    since="1.18",
    backports=("1.18.10", "1.19.3"),
)
class Before95130(RemovedNodesCounted):
    """The list of nodes to try was longer than the tree, or shorter: the cycle ended in an error, and the list was made anew, but the
    dead NodeInfo stayed (1.19, which keeps the pods of a removed node since 93938).

    In 1.18 the cache dropped them, but a pod that was assumed after that made the node a NodeInfo again.
    """


@before(
    "86964",
    "a removed node leaves the cache, and then the snapshot, with its pods",
    first_in="1.18",
    issues=(86920,),
    since="1.14",
)
class DeadNodeInfosStay(RemovedNodesCounted):
    """The list of nodes to try was made anew for each cycle, without the removed node; its NodeInfo stayed with its pods (1.14 to 1.17).

    Up to 1.16 inter-pod affinity went on to count them. Up to 1.13 every NodeInfo was copied, those without a Node object, too.
    """


@before(
    "list-kept",
    "the list of nodes to try is made again only when nodes are added or removed",
    first_in="1.18",
)
class ListMadeAnew(KeptSnapshot):
    """Each snapshot made the list anew; nobody looked whether it was as long as the tree (1.17). Up to 1.16 cycles went through the tree itself."""

    keeps_list = no

    def renew_list(self, changed: Expr) -> Expr:
        self.list_nodes()
        return as_expr(False)


@before(
    "removed-not-preempted", "preemption tries the nodes that the cycle tried", first_in="1.18", since="1.17"
)
class RemovedNodesPreempted(Scheduler):
    """Preemption went through all NodeInfos of the snapshot (83921), also that of a removed node whose pods were still known (1.17).

    Nothing had been said of such a node, so that it was worth a dry run. Up to 1.16 preemption asked for the live nodes.
    """

    def _conclude_filtering(self, pod: Pod) -> None:
        super()._conclude_filtering(pod)
        with when(self.no_node_is(NodeStatus.FEASIBLE)):
            for node in self.universe[Node]:
                with when(self.snapshot.live[node] & ~self.snapshot.listed[node]):
                    self.snapshot.listed[node] = True
                    self.verdict[node] = NodeStatus.REJECTED
