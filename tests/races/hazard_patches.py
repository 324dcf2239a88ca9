"""Proposed patches for the open hazards of docs/hazards.md, each as a subclass of a part of the scheduler."""

from __future__ import annotations

from dataclasses import replace

from podrace.patching import (
    ASSIGNED_POD_DELETE,
    NODE_DELETE,
    NOMINATED_POD_GONE,
    Action,
    APIDispatcher,
    APIServer,
    AsyncPreemption,
    Autoscaler,
    Binding,
    BindingPhase,
    Budgets,
    Cache,
    Call,
    CallType,
    ClusterEvent,
    Component,
    EventHandlers,
    Expr,
    Hints,
    Kubelet,
    Node,
    NodeChange,
    Nominator,
    Placement,
    Plugin,
    Pod,
    PodCopy,
    PodObject,
    PodWatch,
    PriorityQueue,
    Process,
    Record,
    Recreation,
    Scheduler,
    Snapshot,
    Stage,
    SubQueue,
    Term,
    Value,
    any_of,
    as_expr,
    before,
    boolean,
    otherwise,
    per,
    record,
    require,
    step,
    when,
)


class FreshRequeue(PriorityQueue):
    """The entry of a pod in flight keeps the newest object; the requeue takes it, under the queue's lock (141645)."""

    newer = per(Pod, record(PodCopy))
    updated = per(Pod, boolean())

    def update(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        with when(self.in_flight[pod]):
            self.newer[pod] = new.copy()
            self.updated[pod] = True
        super().update(pod, old, new)

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        return super().requeue(pod, Record.choose(self.updated[pod], self.newer[pod], copy))

    def done(self, pod: Pod) -> None:
        super().done(pod)
        self.newer[pod] = PodCopy()
        self.updated[pod] = False


class GhostsRefused(PriorityQueue):
    """A deletion is noted by UID, which no later pod has, and the requeue drops the pod.

    That the pod is in flight is not asked: only with queueing hints does the queue know, and before 125578 a pod could have two attempts.
    """

    gone = per(Pod, boolean())

    def add(self, pod: Pod, new: PodObject) -> None:
        self.gone[pod] = False
        super().add(pod, new)

    def delete(self, pod: Pod) -> None:
        self.gone[pod] = True
        super().delete(pod)

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        gone = as_expr(self.gone[pod])
        taken = super().requeue(pod, copy)
        with when(gone):
            self.put(pod, SubQueue.NONE, PodCopy())
        return taken & ~gone


class RequeueLooksAgain(PriorityQueue):
    """The requeue looks into the lister again, under the queue's lock: it takes the newest object, and no pod that is gone or bound.

    What happens to the pod after the look is handled after the lock is free, when the pod is in the queue. So nothing has to be noted,
    and it is in place of both FreshRequeue and GhostsRefused.
    """

    pod_watch: PodWatch

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        current = self.pod_watch.lister[pod]
        with when(current.pending):
            taken = super().requeue(pod, current.copy())
        with otherwise():
            self.settle()
            self.done(pod)
        return taken & current.pending


RegisteredToTheEnd = before("125578", "Binding")
"""A pod stays in flight until its binding cycle has ended (141645 would only stop to keep events for it earlier)."""


class PlacedNotAdded(PriorityQueue):
    """Update adds no pod that the cache has, assumed or confirmed; it asks the cache under the queue's lock.

    The look of the handler before is too early: the pod may have been popped, assumed and bound since. This answer stays true: a pod
    that is in no sub-queue, not in flight and not in the cache can only come there through the queue. It needs RegisteredToTheEnd as
    well, because a pod whose binding has failed is in the cache no more, and is not queued yet.
    """

    cache: Cache

    def update(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        placed = self.cache.knows(pod) & ~self.contains(pod) & ~self.keeps_update(pod)
        with when(~placed):
            super().update(pod, old, new)


VersionedCondition = before("status-patch")
"""The condition is written only if the object is still the one that the failure handler read (139602)."""


class AskedBeforeForgotten(Binding):
    """After a failed Binding the API server is asked: a pod that is bound after all stays assumed."""

    @step(actor="binding cycle", each="pod")
    def forget(self, pod: Pod) -> None:
        """GET the pod, and ForgetPod unless it is bound."""
        require(self.phase[pod] == BindingPhase.FORGET)
        with when(self.api.pod[pod].assigned):
            self.bound(pod)
            self._end(pod)
        with otherwise():
            super().forget(pod)


class WrittenBeforeForgotten(Binding):
    """A Binding has the pod's version as a precondition, and after an error the pod is written to before ForgetPod: what is late meets another version."""

    process: Process

    @step(actor="binding cycle", each="pod")
    def forget(self, pod: Pod) -> None:
        """The write fails for a pod that is bound after all, which stays assumed; else ForgetPod, and no Binding from before is executed."""
        require(self.phase[pod] == BindingPhase.FORGET)
        with when(self.api.pod[pod].assigned):
            self.bound(pod)
            self._end(pod)
        with otherwise():
            self.process.sent[pod] = None
            super().forget(pod)


class Barrier(Process):
    """A standby begins only when its informers have seen what the API server had when it got the lease (137308)."""

    def may_lead(self) -> Expr:
        return as_expr(self.pod_watch.log.length == 0)


class Fenced(Process):
    """The API server refuses a Binding of a process that holds the lease no more."""

    @step(actor="API server", fair=False)
    def land(self, pod: Pod, node: Node) -> None:
        """It is refused."""
        require(False)


class BoundElsewhereWakes(EventHandlers):
    """A nominated pod that is bound to another node wakes those that respected its nomination (134859)."""

    def nomination_wakes(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        nominated = as_expr(old.nominated)
        elsewhere = nominated.is_some & new.assigned & (nominated != new.node)
        return super().nomination_wakes(pod, old, new) | elsewhere


class NominationsInMemoryHeard(PriorityQueue):
    """Delete, under the queue's lock, wakes those that respected a nomination of which only the nominator knows (what 129058 left)."""

    def delete(self, pod: Pod) -> None:
        kept = self.nominator.node[pod].is_some
        super().delete(pod)
        with when(kept):
            respecting = {other: other.priority <= pod.priority for other in self.universe[Pod]}
            self.move_all(NOMINATED_POD_GONE, respecting, about=pod)


class AlwaysActivated(AsyncPreemption):
    """The goroutine activates the preemptor whenever it ends (142294)."""

    def activates(self, pod: Pod) -> Expr:
        return as_expr(True)


class NodeRemovedFirst(EventHandlers):
    """deleteNodeFromCache takes the node out of the cache before it wakes pods, as all other handlers do."""

    def begin_removal(self, node: Node) -> None:
        self.cache.remove_node(node)
        self.node_busy = True

    @step(actor="node handler")
    def remove_node(self, node: Node) -> None:
        """After the cache, the queue: a removed node wakes the pods that its domain kept out."""
        require(self.node_busy)
        require(~self.node_watch.take(node).exists)
        self.queue.move_all(NODE_DELETE, about=node)
        self.node_busy = False
        self.node_watch.processed()


class GoneNotAssumed(Cache):
    """AssumePod refuses a pod whose deletion was told to the queue: the cache has noted it under its own lock."""

    gone = per(Pod, boolean())

    def assume(self, pod: Pod, node: Node, copy: PodCopy, version: Value = None) -> Expr:
        gone = as_expr(self.gone[pod])
        with when(~gone):
            refused = super().assume(pod, node, copy, version)
        return gone | refused


class GoneNoted(EventHandlers):
    """deletePodFromSchedulingQueue looks whether the pod is assumed, and notes in the same step that it is gone."""

    @step(actor="queue handler")
    def look_whether_assumed(self, pod: Pod) -> None:
        """IsAssumedPod, which notes that the pod is gone."""
        self.cache.gone[pod] = True
        super().look_whether_assumed(pod)


class AssumedIfListed(Cache):
    """After AssumePod the scheduling cycle looks into the lister, and forgets a pod that is gone: one step, as nobody takes a snapshot between.

    If the lister still has the pod, the handler of its deletion has yet to look whether it is assumed.
    """

    pod_watch: PodWatch

    def assume(self, pod: Pod, node: Node, copy: PodCopy, version: Value = None) -> Expr:
        listed = as_expr(self.pod_watch.lister[pod].exists)
        with when(listed):
            refused = super().assume(pod, node, copy, version)
        return ~listed | refused


BESIDE: dict[str, tuple[type[Component], ...]] = {"GoneNotAssumed": (GoneNoted,)}
"""Patches that need a class of another part as well."""


class TombstonesWakeLikeDeletions(EventHandlers):
    """A deletion whose last state is unknown moves parked pods by what the cache had of the pod, not by the object that it carries."""

    def wake_for_removed(self, pod: Pod, old: PodObject) -> None:
        self.queue.move_all(ASSIGNED_POD_DELETE, about=pod)


class TermsOfOthersHeard(Hints):
    """InterPodAffinity cannot know whose anti-affinity kept the pod out: a new node may help, and one with other labels."""

    def after_node(self, plugin: Plugin, pod: Pod, node: Node) -> Expr:
        return as_expr(True) if plugin.name == "InterPodAffinity" else super().after_node(plugin, pod, node)

    def is_in_other_domain(self, pod: Pod, change: NodeChange) -> bool:
        return change.old.labels != change.new.labels


class CountedNodesHeard(Hints):
    """PodTopologySpread counts the nodes that the pod's node affinity matches: that a node is one of them no longer, or now, may help."""

    def after_update(self, plugin: Plugin, pod: Pod, change: NodeChange) -> Expr:
        counted = pod.asks_for(change.old) != pod.asks_for(change.new)
        heard = plugin.name == "PodTopologySpread" and counted
        return as_expr(heard) | super().after_update(plugin, pod, change)


def may_be_first(pod: Pod) -> bool:
    """Whether the pod may be the first of its kind: it is meant by its own affinity terms (satisfyPodAffinity)."""
    terms = [term for term in pod.terms if term.required and not term.anti]
    return bool(terms) and all(term.matches(pod) for term in terms)


class LostDomainsHeard(Hints):
    """InterPodAffinity: a node that leaves a domain may take the last pod out of it that this pod must be with, so that this one may be the first."""

    def is_in_other_domain(self, pod: Pod, change: NodeChange) -> bool:
        keys = {term.topology_key for term in pod.terms if term.required and not term.anti}
        left = any(key in change.old.labels and key not in change.new.labels for key in keys)
        return (left and may_be_first(pod)) or super().is_in_other_domain(pod, change)


class NamespacesMerged(Hints):
    """InterPodAffinity's hints use the labels of the other pod's namespace, as its filter does (141954)."""

    def means(self, term: Term, other: Pod) -> bool:
        return term.matches(other)


class LastPeerHeard(Hints):
    """InterPodAffinity: a pod that goes may be the last that this pod must be with, so that this one may be the first (142103)."""

    def after_pod(self, pod: Pod, other: Pod, event: ClusterEvent) -> Expr:
        peer = event.action == Action.DELETE and self.matches_all(pod, other, anti=False)
        return as_expr(peer and may_be_first(pod)) | super().after_pod(pod, other, event)


class RelabelledPeersHeard(LastPeerHeard):
    """The same of a pod that is one of its kind no longer, because its labels changed."""

    def mends_affinity(self, pod: Pod, old: Pod, new: Pod) -> bool:
        leaves = self.matches_all(pod, old, anti=False) and not self.matches_all(pod, new, anti=False)
        return (leaves and may_be_first(pod)) or super().mends_affinity(pod, old, new)


class VictimsPaidFor(APIServer):
    """Preemption ends its victims by the eviction subresource: their budgets pay first (KEP-3280), and have no say in it."""

    budgets: Budgets

    def evict_pod(self, pod: Pod) -> None:
        for budget in self.budgets.protecting(pod):
            with when(self.budgets.allowed[budget] > 0):
                self.budgets.take(budget, pod)
        super().evict_pod(pod)


class LooksAgain(Autoscaler):
    """The API server deletes the node only if it is still empty: a precondition that no API has today."""

    def take_away(self, node: Node) -> None:
        require(self.looks_empty(node))
        super().take_away(node)


class LeftoversCounted(Kubelet):
    """A kubelet counts each pod that it is not done with, also one whose object is gone."""

    def counts(self, pod: Pod, node: Node) -> Expr:
        return as_expr(self.runs[pod][node])


class LeftoversAwaited(Kubelet):
    """A kubelet decides on no pod while it is not done with one of the node whose object is gone: it waits."""

    def is_new(self, pod: Pod) -> Expr:
        return super().is_new(pod) & ~any_of(
            self.is_on(pod, n) & self.has_leftovers(n) for n in self.universe[Node]
        )

    def has_leftovers(self, node: Node) -> Expr:
        """Whether the kubelet is not done with a pod that is on the node no longer."""
        return any_of(self.runs[p][node] & ~self.is_on(p, node) for p in self.universe[Pod])


class VictimsAwaitedByUID(AsyncPreemption):
    """PreEnqueue compares the UID of the pod that the lister gives with that of the last victim."""

    def awaits_last(self, pod: Pod) -> Expr:
        shown = self.pod_watch.lister
        return any_of(
            shown[q].exists & ~shown[q].terminating & (self.last[pod] == q) for q in self.universe[Pod]
        )


class WrittenByUID(APIServer):
    """What is written by name, a victim's DELETE and the PATCH of a status, has the UID as a precondition."""

    def of_name(self, pod: Pod) -> tuple[Pod, ...]:
        return (pod,)


class VictimsDeletedByUID(APIServer):
    """A victim's DELETE has the UID as a precondition; the PATCH of a status has none."""

    def evict_pod(self, pod: Pod) -> None:
        self.end_victim(pod)


class NominatedByUID(Nominator):
    """The nominator compares the UID of the pod that the lister gives with that of the pod that it is to note."""

    def accepts(self, pod: Pod) -> Expr:
        pending: Expr = self.pod_watch.lister[pod].pending
        return pending


class PreemptorReadByUID(Scheduler):
    """Preemption compares the UID of the pod that the lister gives with that of the popped pod, and ends if another pod has its name."""

    def is_found_instead(self, recreation: Recreation) -> Expr:
        return as_expr(False)


class SwappedTakenOut(PriorityQueue):
    """Update with another UID takes the pod that had the name out of the nominator, as Delete would."""

    def replace(self, replaced: Pod, pod: Pod, old: PodObject, new: PodObject) -> None:
        super().replace(replaced, pod, old, new)
        self.nominator.delete(replaced)


class AnyTermHeard(Hints):
    """InterPodAffinity: one anti-affinity term keeps a pod out, so that a pod which one of them means no longer may help (139161)."""

    def mends_affinity(self, pod: Pod, old: Pod, new: Pod) -> bool:
        apart = [term for term in pod.terms if term.required and term.anti]
        parts = any(term.matches(old) and not term.matches(new) for term in apart)
        return parts or super().mends_affinity(pod, old, new)


class BoundPodsUnpatched(APIDispatcher):
    """An update that shows the pod on a node drops the patch of its status that waits: no attempt at the pod matters any more."""

    def sync(self, pod: Pod, seen: PodObject) -> None:
        waits = (self.stage[pod] == Stage.QUEUED) | self.superseded[pod]
        with when(seen.assigned & waits & (as_expr(self.call[pod].kind) == CallType.PATCH)):
            self._drop_waiting(pod)
        with otherwise():
            super().sync(pod, seen)

    def _drop_waiting(self, pod: Pod) -> None:
        self.call[pod] = Call()
        with when(self.superseded[pod]):
            self.superseded[pod] = False
        with otherwise():
            self.stage[pod] = Stage.NONE


class PortsOfOthersKept(Snapshot):
    """A pod that leaves a NodeInfo takes off the list only ports that no other pod there has: a NodeInfo lists what its pods have.

    The snapshot's filter and dry run ask for nothing else, and the cache's list is asked by nobody but the snapshot.
    """

    def placement(self) -> Placement:
        return replace(super().placement(), ports={})
