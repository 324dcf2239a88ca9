"""The binding cycle: one goroutine per assumed pod (bindingCycle in schedule_one.go, 1.34)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ..environment.faults import Fault
from ..environment.objects import ExtensionPoint, Node, Pod, PodCopy
from ..language import (
    UNTOLD,
    Component,
    Expr,
    Knowledge,
    Sentence,
    Value,
    as_expr,
    boolean,
    changes,
    constraint,
    enum,
    otherwise,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from .failure import FailedAttempt
from .framework.events import ASSIGNED_POD_DELETE, DEFAULT_PREEMPTION, PERMIT_PLUGIN
from .framework.waiting_pods import Signal

if TYPE_CHECKING:
    from ..environment.api import APIServer
    from ..environment.faults import Faults
    from .cache.scheduler_cache import Cache
    from .failure import FailureHandler
    from .framework.interface import Framework
    from .framework.waiting_pods import WaitingPods
    from .queue.scheduling_queue import PriorityQueue


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


class Reply(Enum):
    """What the API server makes of the Binding, and what of that the scheduler hears.

    An error can mean that nothing was written, or that only the reply was lost.
    """

    ANSWERED = 0
    FAILED = 1
    LOST = 2


class Binding(Component):
    """Binding cycles by pod: the target node, and the object that was assumed.

    `rejected[p]`: a verdict on the waiting pod ends the cycle, rather than an error; `preempted[p]`: it was preemption's, not a
    Permit plugin's.
    """

    api: APIServer
    faults: Faults
    cache: Cache
    failure: FailureHandler
    queue: PriorityQueue
    scheduler: Framework
    waiting: WaitingPods

    phase = per(Pod, enum(BindingPhase))
    node = per(Pod, ref(Node))
    copy = per(Pod, PodCopy)
    rejected = per(Pod, boolean())
    preempted = per(Pod, boolean())

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

    def _end(self, pod: Pod) -> None:
        self.phase[pod] = BindingPhase.NONE
        self.node[pod] = None
        self.copy[pod] = PodCopy()
        self.rejected[pod] = False
        self.preempted[pod] = False

    def begin(self, pod: Pod) -> None:
        """The goroutine's first step."""
        with when(self.waiting.holds(pod)):
            self.phase[pod] = BindingPhase.WAIT_ON_PERMIT
        with otherwise():
            self.bindable(pod)
            self.phase[pod] = self.phase_after_permit(pod)

    def bindable(self, pod: Pod) -> None:
        """No plugin can reject the pod any more: no events need to be kept for it (Done)."""
        self.queue.done(pod)

    def bound(self, pod: Pod) -> None:
        """The binding cycle has succeeded."""

    def phase_after_permit(self, pod: Pod) -> BindingPhase:
        """PreBind, if a plugin has work to do there."""
        points = self.scheduler.extension_points(pod)
        return BindingPhase.PRE_BIND if ExtensionPoint.PRE_BIND in points else BindingPhase.BIND

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine of {pod} stops waiting for permission.")
    def wait_on_permit(self, pod: Pod) -> None:
        """WaitOnPermit returns: the pod leaves the map of waiting pods, to be bound or because it is rejected."""
        if ExtensionPoint.PERMIT not in self.scheduler.extension_points(pod):
            require(False)
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
        """Whether the signal that ends the wait, other than a permission, is a rejection rather than an error."""
        return as_expr(True)

    @step(actor="binding cycle", each="pod")
    @tells("The PreBind plugins run for {pod}.")
    def pre_bind(self, pod: Pod, ok: bool) -> None:
        """The PreBind plugins, which may take long."""
        if ExtensionPoint.PRE_BIND not in self.scheduler.extension_points(pod):
            require(False)
        require(self.phase[pod] == BindingPhase.PRE_BIND)
        if ok:
            self.phase[pod] = BindingPhase.BIND
        else:
            self.faults.spend(Fault.PLUGIN_ERROR)
            self.phase[pod] = BindingPhase.FORGET

    @step(actor="binding cycle", each="pod")
    @tells(
        Sentence(
            "The binding goroutine binds {pod}: the API server has it on {after}.", changes("api.pod.node")
        ),
        "The binding goroutine asks the API server to bind {pod}, in vain.",
    )
    def bind(self, pod: Pod, reply: Reply) -> None:
        """POST the Binding."""
        require(self.phase[pod] == BindingPhase.BIND)
        if reply is Reply.FAILED:
            self.faults.spend(Fault.BIND_FAILURE)
        elif reply is Reply.LOST:
            self.faults.spend(Fault.LOST_REPLY)
        self.phase[pod] = BindingPhase.FINISH_FAILED
        if reply is not Reply.FAILED:
            with when(self.api.can_bind(pod)):
                self.api.bind(pod, self.node[pod])
                if reply is Reply.ANSWERED:
                    self.phase[pod] = BindingPhase.FINISH

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine reports to the cache that the binding of {pod} is over.")
    def finish(self, pod: Pod) -> None:
        """FinishBinding, whether the bind succeeded or not."""
        succeeded = self.phase[pod] == BindingPhase.FINISH
        require(succeeded | (self.phase[pod] == BindingPhase.FINISH_FAILED))
        self.cache.finish_binding(pod)
        with when(succeeded):
            self.bound(pod)
            self._end(pod)
        with otherwise():
            self.phase[pod] = BindingPhase.FORGET

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine makes the cache forget {pod}.")
    def forget(self, pod: Pod) -> None:
        """ForgetPod: the pod is not going to be bound."""
        require(self.phase[pod] == BindingPhase.FORGET)
        failed = self.cache.forget(pod, self.node[pod])
        self.phase[pod] = select(failed, BindingPhase.FAIL, self.phase_after_forget(pod))

    def phase_after_forget(self, pod: Pod) -> Expr:
        """A pod that is forgotten gives room back, like one that is deleted: parked pods are moved.

        After an error at once, this pod among them; after a verdict once the failure is handled, this pod excepted.
        """
        return select(self.rejected[pod], BindingPhase.FAIL_AND_WAKE, BindingPhase.WAKE)

    @step(actor="binding cycle", each="pod")
    @tells("{pod} was not bound, so the queue lets parked pods try again: there may be room for them.")
    def wake_queue(self, pod: Pod) -> None:
        """MoveAllToActiveOrBackoffQueue after an error."""
        require(self.phase[pod] == BindingPhase.WAKE)
        self.queue.move_all(ASSIGNED_POD_DELETE)
        self.phase[pod] = BindingPhase.FAIL

    @step(actor="binding cycle", each="pod")
    @tells("Binding {pod} has failed; the failure handler takes over.")
    def fail(self, pod: Pod) -> None:
        """The failure handler takes over."""
        wakes = self.phase[pod] == BindingPhase.FAIL_AND_WAKE
        require(wakes | (self.phase[pod] == BindingPhase.FAIL))
        if ExtensionPoint.PERMIT in self.scheduler.extension_points(pod):
            with when(self.rejected[pod]):
                self.record_refusal(pod)
        attempt = FailedAttempt(self.copy[pod], None, True, unschedulable=self.rejected[pod], wakes=wakes)
        self.failure.begin(pod, attempt)
        self._end(pod)

    def record_refusal(self, pod: Pod) -> None:
        """A rejection in WaitOnPermit is a FitError that names the plugin: without an event the pod is parked.

        A pod that is rejected because it is gone is not requeued, so that it does not matter that its status names no plugin.
        """
        plugin = {
            PERMIT_PLUGIN: ~as_expr(self.preempted[pod]),
            DEFAULT_PREEMPTION: as_expr(self.preempted[pod]),
        }
        none = self.queue.only()
        self.queue.record_rejection(pod, {p: plugin.get(p.name, refused) for p, refused in none.items()})
