"""Controllers that replace what is gone (pkg/controller/replicaset, job, statefulset and daemon, 1.36).

Each reads pods from an informer of its own, which lags, and does not act upon what it has not heard of: those of ReplicaSets, Jobs and DaemonSets
wait until they have heard of each pod that they made or deleted (ControllerExpectations in controller_utils.go), that of StatefulSets makes pods by
fixed names, and so one at most of each.
"""

from enum import Enum

from ...language import (
    Component,
    Expr,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    constraint,
    count,
    enum,
    per,
    require,
    select,
    step,
    tells,
    when,
)
from ...language.systems.remembering import forget, is_forgotten
from ..api import APIServer
from ..cluster.node_versions import versions_in
from ..cluster.owned_pods import Owned, Owner
from ..cluster.workloads import OwnerKind
from ..faults import Fault, Faults
from ..kubelet import Kubelet
from ..node_fit import KEEPING_OFF
from ..objects import Node, Pod


class Phase(Enum):
    """What a controller knows of a pod: it runs once it is on a node and, where kubelets decide, admitted there."""

    ABSENT = 0
    PENDING = 1
    RUNNING = 2
    TERMINATING = 3
    FINISHED = 4


OUTLIVED = ("clock.older", "api.finished", "kubelet.rejected")
"""State of a pod that is gone which says nothing of the next one: its place in the queue's order, which Add sets anew; that it had finished, or was rejected."""


class Controllers(Component):
    """The controllers of pods. `seen[p]`: the pod in its controller's informer. `awaited[p]`: the controller has created or deleted the pod, and its informer does not show this yet. `succeeded[p]`: the Job counts the pod."""

    api: APIServer
    kubelet: Kubelet
    faults: Faults

    kinds = (Owner, Owned)

    seen = per(Owned, enum(Phase))
    awaited = per(Owned, boolean())
    succeeded = per(Owned, boolean())

    phrases = {
        "seen": Words(
            "controller of {0}: hears that it is {after}", "controller of {0}: hears that it is gone"
        ),
        "awaited": Words("controller of {0}: waits until it is notified of what it did", ""),
        "succeeded": Words("controller of {0}: it has succeeded", "", decisive=True),
    }

    def setup(self) -> None:
        for owned in self.universe[Owned]:
            if owned.pod.exists:
                self.seen[owned] = Phase.PENDING if owned.pod.node is None else Phase.RUNNING

    # --- what it hears ---------------------------------------------------------------------------------------

    def phase(self, owned: Owned) -> Expr:
        """The pod's phase at the API server."""
        pod = owned.pod
        current = self.api.pod[pod]
        runs = as_expr(current.assigned)
        if self.scope.kubelet_admission:
            runs = runs & any_of(self.kubelet.runs[pod][node] for node in self.universe[Node])
        ended = self.has_ended(owned)
        there = select(current.terminating, Phase.TERMINATING, select(runs, Phase.RUNNING, Phase.PENDING))
        return select(current.exists, there, select(ended, Phase.FINISHED, Phase.ABSENT))

    def has_ended(self, owned: Owned) -> Expr:
        """Whether the object says that the pod has finished. A Job's pod stays until its controller has counted it (finalizer)."""
        pod = owned.pod
        if owned.owner.kind is not OwnerKind.JOB:
            return as_expr(self.api.remains[pod])
        uncounted = self.api.finished[pod] & ~self.kubelet.rejected[pod] & ~self.succeeded[owned]
        return as_expr(self.api.remains[pod]) | uncounted

    @step(actor="controllers' informer", each="owned")
    @tells("The controller of {owned} hears what has become of it.")
    def hear(self, owned: Owned) -> None:
        """The informer receives the newest object. Until then it may have an older one."""
        now = self.phase(owned)
        require((self.seen[owned] != now) | self.awaited[owned])
        self.seen[owned] = now
        self.awaited[owned] = False
        if owned.owner.kind is OwnerKind.JOB:
            with when((now == Phase.FINISHED) & ~self.kubelet.rejected[owned.pod]):
                self.succeeded[owned] = True

    # --- what it does ----------------------------------------------------------------------------------------

    def siblings(self, owned: Owned) -> list[Owned]:
        """All pods of the owner, with the pod itself."""
        return [other for other in self.universe[Owned] if other.owner is owned.owner]

    def of_slot(self, owned: Owned) -> list[Owned]:
        """The pods that share one place of the owner."""
        return [other for other in self.siblings(owned) if other.slot == owned.slot]

    def counts(self, owned: Owned) -> Expr:
        """Whether the pod counts for its owner (FilterActivePods). A terminating pod does not count, unless its Job replaces pods only after they have ended."""
        seen = self.seen[owned]
        active = (seen == Phase.PENDING) | (seen == Phase.RUNNING)
        return active | (seen == Phase.TERMINATING) if owned.owner.of.waits_for_end else active

    def has_heard(self, owned: Owned) -> Expr:
        """SatisfiedExpectations: the controller's informer shows everything that it did for the owner."""
        return ~any_of(self.awaited[other] for other in self.siblings(owned))

    def is_wanted(self, owned: Owned) -> Expr:
        """Whether the controller wants one more pod in this place."""
        match owned.owner.kind:
            case OwnerKind.STATEFUL_SET:
                return self._is_next(owned)
            case OwnerKind.DAEMON_SET:
                (others, node) = (self.of_slot(owned), owned.node)
                assert node is not None
                free = ~any_of(self.counts(other) | (self.seen[other] == Phase.FINISHED) for other in others)
                return self.has_heard(owned) & free & self.is_for(owned.pod, node)
            case _:
                have = count(self.counts(other) | self.succeeded[other] for other in self.siblings(owned))
                return self.has_heard(owned) & (have < owned.owner.replicas)

    def _is_next(self, owned: Owned) -> Expr:
        """OrderedReady: whether the pods before it run; Parallel does not require this. A terminating pod still has its name."""
        free = self.seen[owned] == Phase.ABSENT
        if owned.owner.of.parallel:
            return free
        before = [other for other in self.siblings(owned) if other.slot < owned.slot]
        return free & all_of(self.seen[other] == Phase.RUNNING for other in before)

    def is_for(self, pod: Pod, node: Node) -> Expr:
        """nodeShouldRunDaemonPod: the node exists, and the pod may run there, apart from its room."""
        there = as_expr(self.api.node_exists[node])
        versions = versions_in(self.universe, node)
        if not versions:
            return there & _may_run(pod, node)
        shown = (self.api.node_version[node] == v for v in versions if _may_run(pod, v.content))
        return there & any_of(shown)

    def is_free(self, owned: Owned) -> Expr:
        """Whether the pod can be reused: nothing remembers its previous use, and no Job counts it."""
        gone = ~self.api.finds(owned.pod) & ~as_expr(self.succeeded[owned])
        return gone & is_forgotten(self, owned.pod, OUTLIVED)

    @step(actor="controller", each="owned")
    @tells("A controller creates {owned}.")
    def create(self, owned: Owned) -> None:
        """A created pod is new: nothing in the model knows its UID yet.

        So it can be told from none of those that were here before it in all ways but its name here; of the pods that are free the first one in the scenario stands
        for it. The bound is that there is one: pods of which somebody still knows cannot come back.
        """
        pods = self.of_slot(owned)
        free = {other: self.is_free(other) for other in pods}
        require(self.is_wanted(owned) & ~any_of(free[o] for o in pods if o.index < owned.index))
        if owned is not pods[-1]:
            require(free[owned])
        constraint(
            f"pods of {owned.owner.name}: {len(pods)} at once, including all that something still remembers",
            free[owned],
        )
        forget(self, owned.pod, ("api.finished", "kubelet.rejected"))
        self.api.create_pod(owned.pod)
        if owned.owner.kind is not OwnerKind.STATEFUL_SET:
            self.awaited[owned] = True

    @step(actor="controller", each="owned")
    @tells("A controller deletes {owned}, of which there is one too many.")
    def delete(self, owned: Owned) -> None:
        """The controller sees more pods than it wants, and deletes one, preferably a pod that waits (getPodsToDelete)."""
        kind, others = owned.owner.kind, self.of_slot(owned)
        require(kind is not OwnerKind.STATEFUL_SET)
        waits = self.seen[owned] == Phase.PENDING
        active = waits | (self.seen[owned] == Phase.RUNNING)
        first = waits | ~any_of(self.seen[other] == Phase.PENDING for other in others)
        have = count(self.counts(other) for other in others)
        if kind is OwnerKind.DAEMON_SET:
            assert owned.node is not None
            surplus = (have > 1) | ~as_expr(self.api.node_exists[owned.node])
        else:
            surplus = have + count(self.succeeded[other] for other in others) > owned.owner.replicas
        require(self.has_heard(owned) & active & first & surplus)
        self.awaited[owned] = True
        self.api.delete_pod(owned.pod)

    @step(actor="controller", each="owned")
    @tells("A controller deletes the object of {owned}, which has failed or finished, to replace it.")
    def delete_ended(self, owned: Owned) -> None:
        """A finished pod of a StatefulSet or DaemonSet is deleted before it is replaced. Other controllers leave the object to a garbage collector."""
        require(owned.owner.kind in (OwnerKind.STATEFUL_SET, OwnerKind.DAEMON_SET))
        require((self.seen[owned] == Phase.FINISHED) & self.api.remains[owned.pod])
        self.api.delete_finished(owned.pod)

    @step(actor="pod gc", fair=False)
    @tells(
        "The pod garbage collector removes the object of {owned}, which has ended: there are too many of these."
    )
    def collect_ended(self, owned: Owned) -> None:
        """gcTerminated: beyond terminated-pod-gc-threshold, the oldest finished pods are deleted."""
        require(owned.owner.kind not in (OwnerKind.STATEFUL_SET, OwnerKind.DAEMON_SET) and self.scope.pod_gc)
        require(self.api.remains[owned.pod])
        self.api.delete_finished(owned.pod)

    @step(actor="controller", fair=False)
    @tells("The controllers of {owner} restart, and know no more than their informers have.")
    def restart(self, owner: Owner) -> None:
        """A new controller manager has no expectations, and lists pods from a watch cache that can be behind (59848)."""
        mine = [owned for owned in self.universe[Owned] if owned.owner is owner]
        require(any_of(self.awaited[owned] for owned in mine))
        self.faults.spend(Fault.CONTROLLER_RESTART, owner)
        for owned in mine:
            self.awaited[owned] = False


def _may_run(pod: Pod, node: Node) -> bool:
    """predicates in daemon_controller.go: affinity, and taints that keep pods off. A node that is cordoned repels by the taint that goes with it."""
    return pod.asks_for(node) and pod.endures(node, KEEPING_OFF)
