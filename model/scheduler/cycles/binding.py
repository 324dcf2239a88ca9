"""The binding cycle: one goroutine per assumed pod (bindingCycle and handleBindingCycleError in schedule_one.go, 1.36)."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from ...environment.api import APIServer
from ...environment.extender import Extender, HTTPExtender, Managed
from ...environment.faults import Fault, Faults
from ...environment.objects import ExtensionPoint, Node, Pod, PodCopy
from ...language import (
    SOMETHING,
    UNTOLD,
    Component,
    Expr,
    Knowledge,
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
from ..cache.scheduler_cache import Cache
from ..framework.events import ASSIGNED_POD_DELETE, DEFAULT_PREEMPTION, GANG_SCHEDULING, PERMIT_PLUGIN
from ..framework.interface import ClaimPlugin, Framework, GangPlugin, VolumePlugin
from ..framework.waiting_pods import Signal, WaitingPods
from ..queue.moves import Mover
from ..queue.scheduling_queue import PriorityQueue
from .failure import FailedAttempt, FailureHandler


class BindingPhase(Enum):
    """The next thing that a pod's binding cycle does."""

    NONE = 0
    BIND = 1
    FINISH = 2
    FINISH_FAILED = 3
    FORGET = 4
    FAIL = 5
    WAIT_ON_PERMIT = 6
    PRE_BIND = 7
    PERMIT = 8
    WAKE = 9
    FAIL_AND_WAKE = 10
    ANNOUNCE = 11
    PRE_BIND_CANCELLED = 12
    POSTED = 13
    EXTENDER_BIND = 14


class Reply(Enum):
    """What the API server makes of the Binding, and what of that the scheduler hears.

    An error can mean that nothing was written, or that only the reply was lost. TRANSIENT is one of the first kind after which the call
    is worth repeating.
    """

    ANSWERED = 0
    FAILED = 1
    LOST = 2
    TRANSIENT = 3


class ExtenderAnswer(Enum):
    """What comes of a call that asks an extender to bind a pod. FAILED: the extender was not reached; TIMED_OUT: it was, and goes on."""

    ANSWERED = 0
    FAILED = 1
    TIMED_OUT = 2


class Binding(Component):
    """Binding cycles, by pod: the target node, and the assumed object.

    `rejected[p]`: a verdict on the waiting pod ends the cycle, rather than an error; `preempted[p]`: it was preemption's, not a
    Permit plugin's. `passed_over[m]`: the error of an extender that was to bind the pod, where another extender is next.
    """

    api: APIServer
    faults: Faults
    cache: Cache
    failure: FailureHandler
    queue: PriorityQueue
    scheduler: Framework
    waiting: WaitingPods
    dynamic_resources: ClaimPlugin
    volume_binding: VolumePlugin
    gang_scheduling: GangPlugin
    extender: Extender

    phase = per(Pod, enum(BindingPhase))
    node = per(Pod, ref(Node))
    copy = per(Pod, PodCopy)
    rejected = per(Pod, boolean())
    preempted = per(Pod, boolean())
    passed_over = per(Managed, boolean())

    steps_last = Lasts.SHORT

    phrases = UNTOLD
    knowledge = (Knowledge("other goroutines", {"phase": "binding cycle"}),)

    def start(self, pod: Pod, node: Value, copy: PodCopy) -> None:
        """`go func()` at the end of scheduleOne."""
        constraint("one binding cycle per pod", self.phase[pod] == BindingPhase.NONE)
        self.node[pod] = node
        self.copy[pod] = copy
        self.begin(pod)

    def active(self, pod: Pod) -> Expr:
        """Whether a binding cycle of the pod runs."""
        return self.phase[pod] != BindingPhase.NONE

    def is_posting(self, pod: Pod) -> Expr:
        """Whether the pod's Binding is next or in flight, so that the pod waits for no plugin."""
        posting: Expr = (self.phase[pod] == BindingPhase.BIND) | (self.phase[pod] == BindingPhase.POSTED)
        return (
            posting | (self.phase[pod] == BindingPhase.EXTENDER_BIND) if self.extender.binds(pod) else posting
        )

    def _end(self, pod: Pod) -> None:
        self.phase[pod] = BindingPhase.NONE
        self.node[pod] = None
        self.copy[pod] = PodCopy()
        self.rejected[pod] = False
        self.preempted[pod] = False
        self.dynamic_resources.clear(pod)
        self.volume_binding.clear(pod)
        self.gang_scheduling.clear(pod)

    def begin(self, pod: Pod) -> None:
        """The goroutine's first step: RunPreBindPreFlights checks whether a plugin has work at PreBind."""
        with when(self.announces(pod)):
            self.phase[pod] = BindingPhase.ANNOUNCE
        with otherwise():
            self.pass_permit(pod)

    def announces(self, pod: Pod) -> Expr:
        """Whether the scheduler first writes the target node to the API server: only if a plugin makes the pod wait.

        WillWaitOnPermit reads the map of waiting pods, which nobody but this goroutine takes the pod out of.
        """
        points = self.scheduler.extension_points(pod)
        waits = as_expr(ExtensionPoint.PERMIT in points) & self.waiting.holds(pod)
        works = as_expr(ExtensionPoint.PRE_BIND in points)
        if pod.volumes:
            works = works & self.volume_binding.has_work(pod)
        return works | waits

    def _require_announcement(self, pod: Pod) -> None:
        points = self.scheduler.extension_points(pod)
        require(ExtensionPoint.PERMIT in points or ExtensionPoint.PRE_BIND in points)
        require(self.phase[pod] == BindingPhase.ANNOUNCE)

    def is_news(self, pod: Pod) -> Expr:
        """Whether the assumed object does not yet have the node as its nomination, so that there is something to write."""
        return as_expr(self.copy[pod].nominated) != self.node[pod]

    @step(actor="binding cycle", each="pod")
    @tells(
        changes("api.pod.nominated", after=SOMETHING),
        "The binding goroutine writes to the API server that {pod} is nominated to {after}, where it is about to be bound.",
        "The binding goroutine has nothing new to write about {pod}'s nomination, and goes on.",
    )
    def announce(self, pod: Pod) -> None:
        """PATCH the target node as the pod's nomination, unless the assumed object already has it.

        The nominator is not told: the pod is assumed. What follows at once, up to Done, is part of the step: an update of an assumed pod
        is dropped, and no plugin can reject the pod any more.
        """
        self._require_announcement(pod)
        with when(self.is_news(pod)):
            self.api.set_nomination(pod, self.node[pod])
        self.pass_permit(pod)

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine tries to write {pod}'s nomination, the write fails, and it goes on.")
    def fail_to_announce(self, pod: Pod) -> None:
        """The PATCH fails, and the error is only logged."""
        require(bool(self.scope.status_failures))
        self._require_announcement(pod)
        require(self.is_news(pod))
        self.faults.spend(Fault.STATUS_FAILURE, pod)
        self.pass_permit(pod)

    @step(actor="binding cycle", each="pod")
    @tells("The PreBind plugins cannot say whether they have work for {pod}: its binding fails.")
    def fail_pre_flight(self, pod: Pod) -> None:
        """An error of RunPreBindPreFlights: the cycle ends before WaitOnPermit, and the pod stays in the map of waiting pods."""
        require(ExtensionPoint.PRE_BIND in self.scheduler.extension_points(pod))
        require(self.phase[pod] == BindingPhase.ANNOUNCE)
        self.faults.spend(Fault.PLUGIN_ERROR, pod)
        self.phase[pod] = BindingPhase.FORGET

    def pass_permit(self, pod: Pod) -> None:
        """WaitOnPermit: a pod that is not in the map continues immediately."""
        with when(self.waiting.holds(pod)):
            self.phase[pod] = BindingPhase.WAIT_ON_PERMIT
        with otherwise():
            self.bindable(pod)
            self.phase[pod] = self.phase_after_permit(pod)

    def bindable(self, pod: Pod) -> None:
        """No plugin can reject the pod any more, so events are no longer kept for it (Done)."""
        self.queue.done(pod)

    def bound(self, pod: Pod) -> None:
        """The binding cycle has succeeded."""

    def phase_after_permit(self, pod: Pod) -> BindingPhase:
        """PreBind, if a plugin has work to do there."""
        points = self.scheduler.extension_points(pod)
        return BindingPhase.PRE_BIND if ExtensionPoint.PRE_BIND in points else self.first_bind(pod)

    def first_bind(self, pod: Pod) -> BindingPhase:
        """The binder: the first interested extender that binds, before the plugins."""
        return BindingPhase.EXTENDER_BIND if self.extender.binds(pod) else BindingPhase.BIND

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine of {pod} stops waiting for permission.")
    def wait_on_permit(self, pod: Pod) -> None:
        """WaitOnPermit returns: the pod leaves the map of waiting pods, because it was allowed, rejected or preempted."""
        require(ExtensionPoint.PERMIT in self.scheduler.extension_points(pod))
        require(self.phase[pod] == BindingPhase.WAIT_ON_PERMIT)
        require(self.waiting.answered(pod))
        with when(self.waiting.signal[pod] == Signal.ALLOWED):
            self.bindable(pod)
            self.phase[pod] = self.phase_after_permit(pod)
        with otherwise():
            verdict = self.is_verdict(pod)
            self.rejected[pod] = verdict
            self.preempted[pod] = verdict & (self.waiting.signal[pod] == Signal.PREEMPTED)
            self.phase[pod] = BindingPhase.FORGET
        self.waiting.remove(pod)

    def is_verdict(self, pod: Pod) -> Expr:
        """Whether the signal that ends the wait is a rejection, neither a permission nor an error."""
        return self.waiting.signal[pod] == Signal.REFUSED

    @step(actor="binding cycle", each="pod", lasts=Lasts.ANY_TIME)
    @tells("The PreBind plugins run for {pod}.")
    def pre_bind(self, pod: Pod, ok: bool) -> None:
        """The PreBind plugins, which can take long (from 1.36 on some of them run in parallel), and MarkPrebound.

        From here on preemption has to delete the pod.
        """
        require(ExtensionPoint.PRE_BIND in self.scheduler.extension_points(pod))
        require((self.phase[pod] == BindingPhase.PRE_BIND) & self.dynamic_resources.is_bound(pod))
        require(self.volume_binding.is_bound(pod))
        if ok:
            self.phase[pod] = self.first_bind(pod)
        else:
            self.faults.spend(Fault.PLUGIN_ERROR, pod)
            self.phase[pod] = BindingPhase.FORGET

    def may_be_cancelled(self, pod: Pod) -> Expr:
        """CancelPod: whether the pod is in the map of pods in PreBind, and has not finished it."""
        if ExtensionPoint.PRE_BIND not in self.scheduler.extension_points(pod):
            return as_expr(False)
        running = (BindingPhase.PRE_BIND, BindingPhase.PRE_BIND_CANCELLED)
        return any_of(self.phase[pod] == p for p in running)

    def cancel(self, pod: Pod) -> None:
        """CancelPod, for a pod that can be cancelled: the context of the plugins ends."""
        if ExtensionPoint.PRE_BIND in self.scheduler.extension_points(pod):
            self.phase[pod] = BindingPhase.PRE_BIND_CANCELLED

    @step(actor="binding cycle", each="pod", lasts=Lasts.ANY_TIME)
    @tells("{pod} was preempted while its PreBind plugins ran: its binding fails.")
    def stop_pre_bind(self, pod: Pod) -> None:
        """The plugins stop because their context has ended. If they do not, MarkPrebound reports that the pod was cancelled."""
        require(ExtensionPoint.PRE_BIND in self.scheduler.extension_points(pod))
        require(self.phase[pod] == BindingPhase.PRE_BIND_CANCELLED)
        require(self.dynamic_resources.may_stop(pod))
        self.phase[pod] = BindingPhase.FORGET

    @step(actor="binding cycle", each="pod", lasts=Lasts.ANY_TIME)
    @tells(
        changes("api.pod.node"),
        "{extender} binds {pod}: the API server has it on {after}.",
        changes("extender.late", after=SOMETHING),
        "The binding goroutine asks {extender} to bind {pod}, and the call times out; {extender} goes on.",
        changes("faults.left"),
        "The binding goroutine asks {extender} to bind {pod}, and the call fails.",
        "{extender} cannot bind {pod}.",
    )
    def bind_by_extender(self, pod: Pod, extender: HTTPExtender, answer: ExtenderAnswer) -> None:
        """extendersBinding: the extender sends the Binding, if the node has room by the extender's count. Its error is the error of the binding cycle.

        One that is ignorable leaves the Binding to the next one then, and the last to the plugins, which send another. A call that has timed out goes on at the extender.
        """
        binders = self.extender.binds(pod)
        require(extender in binders)
        number, managed = binders.index(extender), self.extender.managed(pod, extender)
        require(self.phase[pod] == BindingPhase.EXTENDER_BIND)
        for other in binders[:number]:
            require(self.passed_over[self.extender.managed(pod, other)])
        require(~as_expr(self.passed_over[managed]))
        if answer is not ExtenderAnswer.ANSWERED:
            self.faults.spend(Fault.EXTENDER_FAILURE, pod)
            if answer is ExtenderAnswer.TIMED_OUT:
                self.extender.postpone(managed, self.node[pod])
            self._after_extender(pod, extender, as_expr(False))
            return
        room = any_of((self.node[pod] == n) & self.extender.has_room(managed, n) for n in self.universe[Node])
        possible = self.api.can_bind(pod) & room
        with when(possible):
            self.api.bind(pod, self.node[pod])
            self.extender.note_binding(managed, self.node[pod])
        self._after_extender(pod, extender, possible)

    def _after_extender(self, pod: Pod, extender: HTTPExtender, bound: Expr) -> None:
        if not self.skips_extender_errors(extender):
            self._forget_binders(pod)
            self.bind_returned(pod, bound)
            return
        with when(bound):
            self._forget_binders(pod)
            self.bind_returned(pod, as_expr(True))
        with otherwise():
            if extender is self.extender.binds(pod)[-1]:
                self._forget_binders(pod)
                self.phase[pod] = BindingPhase.BIND
            else:
                self.passed_over[self.extender.managed(pod, extender)] = True

    def _forget_binders(self, pod: Pod) -> None:
        for extender in self.extender.binds(pod)[:-1]:
            self.passed_over[self.extender.managed(pod, extender)] = False

    def skips_extender_errors(self, extender: HTTPExtender) -> bool:
        """Whether an error of the extender is ignored, and the next extender or the plugins bind."""
        return extender.spec.ignorable

    @step(actor="binding cycle", each="pod")
    @tells(
        changes("api.pod.node"),
        "The binding goroutine binds {pod}: the API server has it on {after}{why}.",
        changes("faults.left"),
        "The binding goroutine asks the API server to bind {pod}, and the call fails.",
        finds("api.pod.exists", "pod", False),
        "The binding goroutine asks the API server to bind {pod}: 404, the pod is gone.",
        finds("api.pod.node", "pod", SOMETHING),
        "The binding goroutine asks the API server to bind {pod}: refused, the pod is on a node already.",
        finds("api.pod.terminating", "pod", True),
        "The binding goroutine asks the API server to bind {pod}: refused, the pod is being deleted.",
        "The binding goroutine asks the API server to bind {pod}, in vain.",
    )
    def bind(self, pod: Pod, reply: Reply) -> None:
        """POST the Binding. After an error that can be temporary, it is posted again.

        After a lost reply, the second Binding meets a pod that is bound already: that conflict is an error.
        """
        self.require_bind(pod)
        if reply is Reply.TRANSIENT:
            self.repeat_bind(pod)
            return
        if reply is Reply.FAILED:
            self.faults.spend(Fault.BIND_FAILURE, pod)
        elif reply is Reply.LOST:
            self.faults.spend(Fault.LOST_REPLY, pod)
        possible = self.api.can_bind(pod)
        if reply is not Reply.FAILED:
            with when(possible):
                self.api.bind(pod, self.node[pod])
        self.bind_answered(pod, possible if reply is Reply.ANSWERED else as_expr(False))

    def explains(self, step: str, args: Mapping[str, Any]) -> Mapping[str, Value]:
        if step == "bind" and args["reply"] is Reply.LOST:
            return {"the reply is lost": True}
        return super().explains(step, args)

    def require_bind(self, pod: Pod) -> None:
        """Requires that the Binding is posted now."""
        require(self.phase[pod] == BindingPhase.BIND)

    def bind_answered(self, pod: Pod, succeeded: Expr) -> None:
        """The call has returned, and the binding cycle continues."""
        self.bind_returned(pod, succeeded)

    def call_returned(self, pod: Pod) -> None:
        """The API dispatcher, if there is one, has finished the pod's Binding."""

    def repeat_bind(self, pod: Pod) -> None:
        """Nothing was written, and the call is repeated, up to three times. (A fourth error would be final; this is not modelled.)"""
        self.faults.spend(Fault.BIND_FAILURE, pod)

    def bind_returned(self, pod: Pod, succeeded: Expr) -> None:
        """The binding cycle ends, or fails."""
        with when(succeeded):
            self.bound(pod)
            self._end(pod)
        with otherwise():
            self.phase[pod] = BindingPhase.FORGET

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine makes the cache forget {pod}.")
    def forget(self, pod: Pod) -> None:
        """ForgetPod: the pod will not be bound."""
        require((self.phase[pod] == BindingPhase.FORGET) & self.dynamic_resources.is_unreserved(pod))
        require(self.volume_binding.is_unreserved(pod) & self.gang_scheduling.is_unreserved(pod))
        failed = self.cache.forget(pod, self.node[pod])
        self.phase[pod] = select(failed, BindingPhase.FAIL, self.phase_after_forget(pod))

    def phase_after_forget(self, pod: Pod) -> Expr:
        """A forgotten pod gives room back, like a deleted pod: parked pods are moved.

        After an error at once, this pod among them; after a verdict once the failure is handled, this pod excepted.
        """
        return select(self.rejected[pod], BindingPhase.FAIL_AND_WAKE, BindingPhase.WAKE)

    @step(actor="binding cycle", each="pod")
    @tells("{pod} was not bound, so the queue lets parked pods try again: there may be room for them.")
    def wake_queue(self, pod: Pod) -> None:
        """MoveAllToActiveOrBackoffQueue after an error. The hints see the assumed pod."""
        require(self.phase[pod] == BindingPhase.WAKE)
        self.queue.move_all(ASSIGNED_POD_DELETE, about=pod)
        self.queue.moved_by(Mover.BINDING)
        self.phase[pod] = BindingPhase.FAIL

    @step(actor="binding cycle", each="pod")
    @tells("Binding {pod} has failed; the failure handler takes over.")
    def fail(self, pod: Pod) -> None:
        """The failure handler takes over."""
        wakes = self.phase[pod] == BindingPhase.FAIL_AND_WAKE
        require(wakes | (self.phase[pod] == BindingPhase.FAIL))
        self.queue.goes_on(Mover.BINDING)
        if ExtensionPoint.PERMIT in self.scheduler.extension_points(pod):
            with when(self.rejected[pod]):
                self.record_refusal(pod)
        attempt = FailedAttempt(self.copy[pod], None, True, unschedulable=self.rejected[pod], wakes=wakes)
        self.failure.begin(pod, attempt)
        self._end(pod)

    def record_refusal(self, pod: Pod) -> None:
        """A rejection in WaitOnPermit is a FitError that names the plugin. Without an event, the pod is parked.

        A pod that is rejected because it is gone is not requeued, so that it does not matter that its status names no plugin.
        """
        permit = PERMIT_PLUGIN if self.gang_scheduling.gang(pod) is None else GANG_SCHEDULING
        plugin = {permit: ~as_expr(self.preempted[pod]), DEFAULT_PREEMPTION: as_expr(self.preempted[pod])}
        none = self.queue.only()
        self.queue.record_rejection(pod, {p: plugin.get(p.name, refused) for p, refused in none.items()})
