"""Asynchronous preemption: a goroutine evicts the victims while the preemptor waits (Executor.prepareCandidateAsync in framework/preemption/executor.go, 1.36;
Evaluator's up to 1.35).

The scheduling cycle only chooses the node and starts the goroutine. While it runs, the plugin's PreEnqueue keeps the
preemptor out of activeQ and backoffQ. This gate opens as soon as the lister shows that the last victim goes, so that the
event of that eviction finds it open.
"""

from collections.abc import Mapping
from enum import Enum

from ...environment.api import APIServer
from ...environment.faults import Fault, Faults
from ...environment.objects import Node, Pod
from ...environment.watch import PodWatch
from ...language import (
    SOMETHING,
    UNTOLD,
    Component,
    Expr,
    Lasts,
    Value,
    any_of,
    as_expr,
    boolean,
    changes,
    constraint,
    enum,
    finds,
    otherwise,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from ..framework.interface import PodsInPreBind
from ..framework.waiting_pods import WaitingPods
from ..queue.nominator import Nominator
from ..queue.scheduling_queue import PriorityQueue


class AsyncPhase(Enum):
    """The next thing that a preemptor's goroutine does."""

    NONE = 0
    BEGIN = 1
    CLEAR = 2
    EVICT = 3
    LEAVE = 4
    EVICT_LAST = 5
    ACTIVATE = 6
    EVICTED = 7


EVICTED = (
    changes("api.pod.exists", after=False),
    "The goroutine evicts {victim} for {pod}: the API server deletes it.",
    changes("api.pod.terminating", after=True),
    "The goroutine evicts {victim} for {pod}: the API server sets its deletion timestamp.",
    changes("faults.left"),
    "The goroutine's DELETE of {victim} for {pod} fails: no answer.",
    changes("waiting.signal", after=SOMETHING),
    "The goroutine stops {victim} in memory: it waited for permission to be bound.",
    changes("binding.phase"),
    "The goroutine stops {victim} in memory: its PreBind plugins ran.",
    finds("waiting.signal", "victim", SOMETHING),
    "The goroutine tries to evict {victim} for {pod}, which has no effect at the API server.",
    changes("api.remains", after=False),
    "The goroutine deletes the object of {victim}, which has finished: no watch of the scheduler tells of it, so no event will follow.",
    finds("api.pod.exists", "victim", False),
    "The goroutine sends a DELETE for {victim}, which is gone already: 404. Nothing is deleted, so no event will follow.",
    "The goroutine sends a DELETE for {victim}, which is being deleted already: nothing changes.",
)


class AsyncPreemption(Component):
    """Goroutines that evict, at most one per preemptor: its victims, the victim that is evicted last, and the chosen node.

    `to_clear[p][q]`: q's nomination to the node that p chose is to be withdrawn. `failed[p]`: a call failed. `cancelled[p]`: an eviction
    failed, and the context of those that were to follow is cancelled.
    `deleted[p]`: not all victims were gone already; `rejected[p]`: the last was stopped in memory, on its way to being bound, or was gone.
    """

    api: APIServer
    pod_watch: PodWatch
    faults: Faults
    waiting: WaitingPods
    binding: PodsInPreBind
    nominator: Nominator
    queue: PriorityQueue

    phase = per(Pod, enum(AsyncPhase))
    node = per(Pod, ref(Node))
    victim = per(Pod, per(Pod, boolean()))
    last = per(Pod, ref(Pod))
    to_clear = per(Pod, per(Pod, boolean()))
    failed = per(Pod, boolean())
    cancelled = per(Pod, boolean())
    deleted = per(Pod, boolean())
    rejected = per(Pod, boolean())

    steps_last = Lasts.SHORT

    phrases = UNTOLD

    def start(self, pod: Pod, node: Node | None, victims: Mapping[Pod, Value], last: Value) -> None:
        """prepareCandidateAsync: the goroutine starts, unless no victim has to be evicted."""
        with when(any_of(victims.values())):
            constraint("one preemption goroutine per preemptor", self.phase[pod] == AsyncPhase.NONE)
            self.phase[pod] = AsyncPhase.BEGIN
            self.node[pod] = node
            self.last[pod] = last
            for victim, chosen in victims.items():
                self.victim[pod][victim] = chosen

    def is_there(self) -> bool:
        """Whether goroutines evict victims."""
        return True

    def holds(self, pod: Pod) -> Expr:
        """PreEnqueue of DefaultPreemption: whether the pod has to wait because its victims are being evicted."""
        closed = (AsyncPhase.BEGIN, AsyncPhase.CLEAR, AsyncPhase.EVICT, AsyncPhase.LEAVE)
        last = (self.phase[pod] == AsyncPhase.EVICT_LAST) | (self.phase[pod] == AsyncPhase.EVICTED)
        return any_of(self.phase[pod] == p for p in closed) | (last & self.awaits_last(pod))

    def awaits_last(self, pod: Pod) -> Expr:
        """Whether the lister shows the last victim, by name, as existing and not terminating."""
        shown = {q: self.pod_watch.under_name(q) for q in self.universe[Pod]}
        return any_of(
            shown[q].exists & ~shown[q].terminating & (self.last[pod] == q) for q in self.universe[Pod]
        )

    def require_phase(self, pod: Pod, phase: AsyncPhase) -> None:
        """Requires that the goroutine of `pod` is in this phase."""
        require(self.phase[pod] == phase)

    def _proceed(self, pod: Pod) -> None:
        others = any_of(
            self.victim[pod][q] & (as_expr(self.last[pod]) != q) for q in self.universe[Pod] if q is not pod
        )
        clears = any_of(self.to_clear[pod][q] for q in self.universe[Pod])
        left = select(others, AsyncPhase.EVICT, AsyncPhase.LEAVE)
        self.phase[pod] = select(clears, AsyncPhase.CLEAR, left)

    @step(actor="preemption goroutine", each="pod")
    @tells("A goroutine begins to make room for {pod} on {node}.")
    def begin(self, pod: Pod, node: Node) -> None:
        """The goroutine reads which pods of lower priority are nominated to the chosen node."""
        self.require_phase(pod, AsyncPhase.BEGIN)
        require(self.node[pod] == node)
        self.queue.settle()
        for q in self.universe[Pod]:
            due = self.nominator.is_withdrawn_by(pod, q, node)
            if due is not None:
                self.to_clear[pod][q] = due
        self._proceed(pod)

    @step(actor="preemption goroutine", each="pod")
    @tells(
        changes("async_preemption.failed", after=True),
        "The goroutine tries to withdraw the nomination of {other} at the API server: 404, the pod is gone. In the end {pod} is activated for that.",
        "The goroutine withdraws, at the API server, the nomination of {other}, which has a lower priority than {pod}.",
    )
    def clear_nomination(self, pod: Pod, other: Pod) -> None:
        """Remove, at the API server, the nomination of a lower-priority pod to the chosen node.

        The PATCH of a pod that is gone is an error like any other (clearNominatedNodeName): the evictions go on, and in the end the preemptor is activated.
        """
        require(pod is not other)
        self.require_phase(pod, AsyncPhase.CLEAR)
        require(self.to_clear[pod][other])
        with when(~self.api.finds(other)):
            self.failed[pod] = True
        self.api.clear_nomination(other)
        self.to_clear[pod][other] = False
        self._proceed(pod)

    @step(actor="preemption goroutine", each="pod")
    @tells(
        "The goroutine tries to withdraw the nomination of {other} at the API server, and the write fails."
    )
    def fail_to_clear_nomination(self, pod: Pod, other: Pod) -> None:
        """The write fails, and the nomination stays. The evictions continue; at the end the preemptor is activated."""
        require(pod is not other and bool(self.scope.status_failures))
        self.require_phase(pod, AsyncPhase.CLEAR)
        require(self.to_clear[pod][other])
        self.faults.spend(Fault.STATUS_FAILURE, other)
        self.failed[pod] = True
        self.to_clear[pod][other] = False
        self._proceed(pod)

    @step(actor="preemption goroutine", each="pod")
    @tells(*EVICTED)
    def evict(self, pod: Pod, victim: Pod, ok: bool) -> None:
        """All victims except the last are evicted in parallel; an error ends this."""
        require(pod is not victim)
        self.require_phase(pod, AsyncPhase.EVICT)
        require(self.victim[pod][victim] & (as_expr(self.last[pod]) != victim))
        with when(self._evicts(pod, victim, ok)):
            self.victim[pod][victim] = False
            self._proceed(pod)
        with otherwise():
            self.phase[pod] = AsyncPhase.LEAVE

    @step(actor="preemption goroutine", each="pod")
    @tells("The goroutine records that {pod} waits for its last victim.")
    def leave(self, pod: Pod) -> None:
        """Only the last victim is left: the preemptor is recorded as waiting for it."""
        self.require_phase(pod, AsyncPhase.LEAVE)
        self.phase[pod] = self.phase_after_others(pod)

    def phase_after_others(self, pod: Pod) -> Expr:
        """The phase after the parallel evictions: the last victim, which is not evicted if one of them failed."""
        return select(self.cancelled[pod], AsyncPhase.ACTIVATE, AsyncPhase.EVICT_LAST)

    @step(actor="preemption goroutine", each="pod")
    @tells(*EVICTED)
    def evict_last(self, pod: Pod, victim: Pod, ok: bool) -> None:
        """The last victim is evicted."""
        require(pod is not victim)
        self.require_phase(pod, AsyncPhase.EVICT_LAST)
        require(as_expr(self.last[pod]) == victim)
        if ok:
            self.note_rejection(pod, self.is_stoppable(victim) | self.finds_nobody(victim))
        self._evicts(pod, victim, ok)
        self.evicted_last(pod)

    def note_rejection(self, pod: Pod, rejected: Expr) -> None:
        """The last victim is stopped in memory, is already gone, or is deleted (willProduceDeletionEvent, 1.38)."""
        self.rejected[pod] = rejected

    def finds_nobody(self, victim: Pod) -> Expr:
        """Whether the DELETE of a victim would find nobody, so that no event will follow."""
        return ~self.api.finds(victim)

    def evicted_last(self, pod: Pod) -> None:
        """The phase after the last eviction: the preemptor is still recorded as preempting."""
        self.phase[pod] = AsyncPhase.EVICTED

    @step(actor="preemption goroutine", each="pod")
    @tells("Preemption for {pod} no longer runs.")
    def leave_last(self, pod: Pod) -> None:
        """The preemptor is no longer recorded as preempting. The goroutine ends, unless it activates the preemptor."""
        self.require_phase(pod, AsyncPhase.EVICTED)
        self.conclude(pod)

    def conclude(self, pod: Pod) -> None:
        """The goroutine returns, or first activates the preemptor."""
        with when(self.activates(pod)):
            self.phase[pod] = AsyncPhase.ACTIVATE
        with otherwise():
            self.end(pod)

    def activates(self, pod: Pod) -> Expr:
        """Whether the preemptor is activated, because possibly no event will wake it."""
        return as_expr(self.failed[pod]) | self.nobody_was_left(pod) | self.rejected_last(pod)

    def nobody_was_left(self, pod: Pod) -> Expr:
        """Whether all victims were gone already."""
        return ~as_expr(self.deleted[pod])

    def rejected_last(self, pod: Pod) -> Expr:
        """Whether the last victim was gone, or was stopped in memory, in which case its binding cycle may already have notified the queue."""
        return as_expr(self.rejected[pod])

    @step(actor="preemption goroutine", each="pod")
    @tells("The goroutine asks the queue to try {pod} again.")
    def activate(self, pod: Pod) -> None:
        """The preemptor is activated. If it is in flight, it will be tried again."""
        self.require_phase(pod, AsyncPhase.ACTIVATE)
        self.queue.activate(pod)
        self.end(pod)

    def is_stoppable(self, victim: Pod) -> Expr:
        """Whether the victim can be stopped in memory: it waits for permission, or its PreBind plugins run.

        One that has left both maps is deleted, and so is one that was just allowed or rejected. (Between leaving the one and entering
        the other a victim is deleted, too: as one that was just allowed, or whose cycle is about to announce it.)
        """
        waits = self.waiting.holds(victim)
        return select(waits, self.waiting.stops(victim), self.binding.may_be_cancelled(victim))

    def stop(self, victim: Pod) -> None:
        """Stop a victim in memory that can be stopped."""
        waits = self.waiting.holds(victim)
        with when(waits):
            self.waiting.preempt(victim)
        with otherwise():
            self.binding.cancel(victim)

    def _evicts(self, pod: Pod, victim: Pod, ok: bool) -> Expr:
        """PreemptPod: a victim that can be stopped in memory is stopped, any other is deleted. Returns whether this succeeded."""
        stoppable = self.is_stoppable(victim)
        if not ok:
            require(~stoppable)
            self.faults.spend(Fault.WRITE_FAILURE, victim)
            self._call_failed(pod)
            return as_expr(False)
        there = self.api.finds(victim)
        fails = ~stoppable & ~there & self.gone_is_error(pod, victim)
        with when(fails):
            self._call_failed(pod)
        self.deleted[pod] = self.deleted[pod] | stoppable | there
        with when(stoppable):
            self.stop(victim)
        with otherwise(there):
            self.api.evict_pod(victim)
        return ~fails

    def _call_failed(self, pod: Pod) -> None:
        self.failed[pod] = True
        self.cancelled[pod] = True

    def gone_is_error(self, pod: Pod, victim: Pod) -> Expr:
        """Whether a call for a victim that is gone returns an error."""
        return as_expr(False)

    def may_fail(self) -> bool:
        """Whether an eviction can return an error."""
        return bool(self.scope.write_failures)

    def end(self, pod: Pod) -> None:
        """The goroutine returns."""
        self.phase[pod] = AsyncPhase.NONE
        self.node[pod] = None
        self.last[pod] = None
        self.failed[pod] = False
        self.cancelled[pod] = False
        self.deleted[pod] = False
        self.rejected[pod] = False
        for q in self.universe[Pod]:
            self.victim[pod][q] = False
            self.to_clear[pod][q] = False
