"""Kubelets, and controllers that end pods or count them, as they were."""

from ...environment.actors import PodGC
from ...environment.api import APIServer
from ...environment.cluster.node_health import Mark
from ...environment.cluster.node_versions import NodeVersion
from ...environment.controllers.budgets import Budgets
from ...environment.controllers.node_lifecycle import NOTHING, Judgement, NodeLifecycle
from ...environment.controllers.taint_eviction import Entry, TaintEviction, Work
from ...environment.kubelet import Kubelet, admits
from ...environment.objects import Node, Pod
from ...language import (
    Expr,
    Words,
    any_of,
    as_expr,
    boolean,
    otherwise,
    per,
    require,
    step,
    tells,
    when,
)
from ..registry.change import always, before, no


@before(
    "108366",
    "a kubelet reports that a pod has finished only after its containers have stopped",
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
    "139522",
    "a kubelet counts only pods that it has admitted",
    first_in="1.37",
    issues=(135296,),
    since="1.22.17",
)
class RejectedPodsCountWhileTheyEnd(Kubelet):
    """A rejected pod counted again while its worker ended it, to which any update of its object gave it (isPodInactive: it was said to have failed, but was being terminated).

    From 1.37 on only pods that were allocated something count (getAllocatedPods). `refused[p][n]`: the kubelet of n has rejected the pod, and its worker does not know
    it; `ending[p][n]`: the worker is at it.
    """

    refused = per(Pod, per(Node, boolean(possible=admits)))
    ending = per(Pod, per(Node, boolean(possible=admits)))

    phrases = {
        "ending": Words(
            "kubelet of {1}: its worker ends {0}, which was rejected",
            "kubelet of {1}: its worker is done with {0}",
        )
    }

    @step(actor="kubelet", each="pod")
    def reject(self, pod: Pod) -> None:
        """rejectPod: the status says so; no worker of the kubelet knows the pod."""
        on = {node: self.is_at_work_on(pod, node) for node in self.universe[Node]}
        super().reject(pod)
        for node, here in on.items():
            with when(here):
                self.refused[pod][node] = True

    @step(actor="kubelet", goroutine="kubelet's pod workers", each="pod", fair=False)
    @tells(
        "The object of {pod}, which was rejected, was updated: a worker of the kubelet begins to end it, and until that is over it counts."
    )
    def begin_to_end(self, pod: Pod) -> None:
        """HandlePodUpdates, UpdatePod: an update of any kind, by anybody, gives the pod to a worker."""
        require(self.scope.kubelet_admission)
        there = {n: self.refused[pod][n] & self.is_reachable(n) for n in self.universe[Node]}
        require(self.api.remains[pod] & any_of(there.values()))
        for node, here in there.items():
            with when(here):
                self.refused[pod][node] = False
                self.ending[pod][node] = True

    @step(actor="kubelet", goroutine="kubelet's pod workers", each="pod")
    @tells("The worker of the kubelet is done with {pod}, which was rejected: it no longer counts.")
    def end_rejected(self, pod: Pod) -> None:
        """SyncTerminatedPod: the pod is known to be terminated."""
        require(self.scope.kubelet_admission)
        require(any_of(self.ending[pod][n] for n in self.universe[Node]))
        for node in self.universe[Node]:
            self.ending[pod][node] = False

    def counts(self, pod: Pod, node: Node) -> Expr:
        return super().counts(pod, node) | (self.ending[pod][node] & self.api.remains[pod])


@before(
    "129577",
    "the taint eviction controller forgets the name of a pod that it has deleted",
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

    removes_from_dead_nodes = no


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
    "the disruption controller counts again if the budget was written in the meantime",
    first_in="1.17",
    issues=(82149,),
    backports=("1.15.7", "1.16.4"),
)
class WrittenRegardless(Budgets):
    """A conflict had it read the newest version, and write the old count to that (writePdbStatus, 1.16)."""

    is_written = always


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
    "the node lifecycle controller's monitor marks a node for its taint in the same pass in which it finds that the node does not report",
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
    "the phase of a deleted pod says that the pod has ended before its object is removed",
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
    "the eviction of a pod that has succeeded or failed ignores its budget",
    first_in="1.13",
    backports=("1.12.1",),
)
class EndedPodsProtected(Budgets):
    """Every pod took from its budget, also one that had ended."""

    ignores_ended = no


@before("83906", "the eviction of a Pending pod ignores its budget", first_in="1.19", issues=(80389,))
class PendingPodsProtected(Budgets):
    """Only pods that had ended were evicted without a look at their budget (68892, 1.13)."""

    ignores_pending = no


@before(
    "94381",
    "a pod that is not ready can be evicted if as many are healthy as its budget wants",
    first_in="1.20",
    issues=(80389,),
)
class UnreadyPodsProtected(Budgets):
    """Every pod took from its budget, whether it counted there or not."""

    looks_at_health = no


@before(
    "113375",
    "a budget can allow the eviction of all pods that are not ready (unhealthyPodEvictionPolicy)",
    first_in="1.27",
)
class NoEvictionPolicy(Budgets):
    """The policy was not looked at (PDBUnhealthyPodEvictionPolicy, off in 1.26)."""

    allows_always = no
