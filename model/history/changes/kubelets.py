"""Kubelets, and controllers that end pods or count them, as they were."""

from __future__ import annotations

from ...environment.actors import PodGC
from ...environment.api import APIServer
from ...environment.cluster.node_health import Mark
from ...environment.cluster.node_versions import NodeVersion
from ...environment.controllers.budgets import Budgets
from ...environment.controllers.node_lifecycle import NOTHING, Judgement, NodeLifecycle
from ...environment.controllers.taint_eviction import Entry, TaintEviction, Work
from ...environment.kubelet import Kubelet
from ...environment.objects import DisruptionBudget, Node, Pod
from ...language import Expr, as_expr, otherwise, when
from ..registry.change import before


@before(
    "108366",
    "a kubelet says that a pod has finished when its containers have stopped, not before",
    first_in="1.24",
    issues=(106884,),
    since="1.22",
    backports=("1.22.9", "1.23.6"),
)
class FinishedBeforeStopped(Kubelet):
    """The phase was written first, and the containers stopped after it: the kubelet counted the pod until then, and nobody else did (1.22 and 1.23)."""

    def end(self, pod: Pod) -> None:
        """They go on running (see `stop`)."""


@before(
    "129577",
    "the taint eviction controller keeps nothing under the name of a pod that it has deleted",
    first_in="1.33",
    issues=(125332, 107543),
)
class NameKeptAfterDeletion(TaintEviction):
    """What was under the name of a deleted pod was kept, to begin no second work, until the deletion was handled: if that had been handled already, for ever."""

    def conclude(self, pod: Pod) -> None:
        with when(self.work[self.seen(pod)] == Work.END):
            self.entry[self.seen(pod)] = Entry.NIL
        with otherwise():
            super().conclude(pod)


@before(
    "out-of-service",
    "pods that terminate on a node which is out of service are removed by force",
    first_in="1.26",
)
class DeadNodesKeepTheirPods(PodGC):
    """A pod that terminates on a node whose kubelet is dead stayed until the node was deleted (NodeOutOfServiceVolumeDetach, off in 1.24 and 1.25)."""

    def removes_from_dead_nodes(self) -> bool:
        return False


@before(
    "101218",
    "a kubelet rejects a pod that does not tolerate the NoExecute taints of its node",
    first_in="1.24",
    issues=(100408,),
)
class TaintsNotAdmitted(Kubelet):
    """It ran the pod, until the controller that looks at such taints deleted it."""

    def suits(self, pod: Pod, node: Node) -> Expr:
        return as_expr(pod.asks_for(node))


@before(
    "82152",
    "the disruption controller counts anew if its budget was written meanwhile",
    first_in="1.17",
    issues=(82149,),
    backports=("1.15.7", "1.16.4"),
)
class WrittenRegardless(Budgets):
    """A conflict had it read the newest version, and write the old count to that (writePdbStatus, 1.16)."""

    def is_written(self, budget: DisruptionBudget) -> Expr:
        return as_expr(True)


@before(
    "73097",
    "the API server creates nodes with the taint that they are not ready",
    first_in="1.14",
    issues=(72129, 63897),
    since="1.12",
    backports=("1.12.6", "1.13.3"),
)
class CreatedWithoutTaint(NodeLifecycle):
    """It came when the node lifecycle controller had heard of the node. (Before 1.12 the scheduler looked at the conditions of nodes, and needed none.)"""

    def admitted_with(self) -> frozenset[Mark]:
        return NOTHING


@before(
    "120816",
    "the node lifecycle controller's monitor has a node tainted in the look in which it finds that nothing is heard of it",
    first_in="1.34",
    issues=(120815,),
)
class TaintedByTheNextLook(NodeLifecycle):
    """It went by the condition that it had read (observedReadyCondition), not by the one that it had written. Whether any node is ready it decided by the latter (currentReadyCondition)."""

    def judge_written(self, node: Node, observed: NodeVersion, written: NodeVersion) -> None:
        self.judge(node, observed)
        self.judged[self.seen(node)] = Judgement.NOT_READY


@before(
    "115331",
    "the phase of a pod that was deleted says that it has ended before its object is deleted",
    first_in="1.27",
    issues=(96515,),
)
class RunningUntilGone(APIServer):
    """A pod whose containers are restarted (restartPolicy Always) stayed Running when they had stopped for good: as long as finalizers kept its object, it counted."""

    def linger(self, pod: Pod) -> None:
        if pod.finishes:
            super().linger(pod)
        else:
            self._commit(pod, self.pod[pod].replace(terminating=True))


@before(
    "68892",
    "a pod that has succeeded or failed is evicted whatever its budget says",
    first_in="1.13",
    backports=("1.12.1",),
)
class EndedPodsProtected(Budgets):
    """Every pod took from its budget, also one that had ended."""

    def ignores_ended(self) -> bool:
        return False


@before(
    "83906",
    "a pod that is Pending can be evicted whatever its budget says",
    first_in="1.19",
    issues=(80389,),
)
class PendingPodsProtected(Budgets):
    """Only pods that had ended were evicted without a look at their budget (68892, 1.13)."""

    def ignores_pending(self) -> bool:
        return False


@before(
    "94381",
    "a pod that is not ready can be evicted if as many are healthy as its budget wants",
    first_in="1.20",
    issues=(80389,),
)
class UnreadyPodsProtected(Budgets):
    """Every pod took from its budget, whether it counted there or not."""

    def looks_at_health(self) -> bool:
        return False


@before(
    "113375",
    "a budget can allow the eviction of all pods that are not ready (unhealthyPodEvictionPolicy)",
    first_in="1.27",
)
class NoEvictionPolicy(Budgets):
    """The policy was not looked at (PDBUnhealthyPodEvictionPolicy, off in 1.26)."""

    def allows_always(self, budget: DisruptionBudget) -> bool:
        return False
