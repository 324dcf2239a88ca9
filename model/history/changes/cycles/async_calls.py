"""Asynchronous API calls (KEP-5229, SchedulerAsyncAPICalls): what the scheduler does where it does not wait for its calls.

On in 1.34.0, until 134400 turned it off in 1.34.2; on again in 1.35.0 (135059, 135904), off in 1.35.4 and 1.36. The code is the same from 1.34.0
to 1.36.3, but for what callers of calls in flight are told (135180): nobody in tree listens to that.
"""

from .... import scheduler as kube
from ....environment.objects import Node, Pod, PodCopy, PodObject
from ....language import UNTOLD, Expr, boolean, changes, per, ref, require, select, step, tells
from ....scheduler.api_dispatcher import Condition, Patch
from ....scheduler.cycles.binding import BindingPhase
from ...registry.change import before, yes

UNSAID = 0
"""The priority of a pod whose object does not say one (PodPriority)."""

_WAITS = "the scheduler waits for its calls to the API server (SchedulerAsyncAPICalls is off)"
_queued = before(
    "134400",
    _WAITS,
    first_in="1.36",
    since="1.34",
    backports=("1.34.2", "1.35.1"),
    gate="SchedulerAsyncAPICalls",
    gate_off=True,
)


@_queued
class CallsAreDispatched(kube.APIDispatcher):
    """There is a dispatcher."""

    is_there = yes


@_queued
class UpdatesAreSynced(kube.EventHandlers):
    """A call that waits is made anew from the status in each update that a handler is given (syncPodWithDispatcher)."""

    api_dispatcher: kube.APIDispatcher

    def sync_with_dispatcher(self, pod: Pod, new: PodObject) -> None:
        self.api_dispatcher.sync(pod, new)


@_queued
class FailuresAreQueued(kube.FailureHandler):
    """The failure handler only queues its patch. `nominated[p]`: the nomination of the object that the patch is made from."""

    api_dispatcher: kube.APIDispatcher

    nominated = per(Pod, ref(Node))

    phrases = UNTOLD

    def note(self, pod: Pod, made_from: PodCopy | PodObject) -> None:
        self.noted[pod] = made_from.failed
        self.nominated[pod] = made_from.nominated

    @step(actor="failure handler", each="pod")
    @tells(
        changes("api_dispatcher.call"),
        "The failure handler queues a patch of {pod}'s status, and waits for nothing.",
        "The failure handler has nothing to queue for {pod}: it would change nothing, or a Binding is in the queue.",
    )
    def patch(self, pod: Pod) -> None:
        """PatchPodStatus: the condition, and the nomination if there is one, or its withdrawal."""
        require(self.phase[pod] == kube.FailurePhase.PATCH)
        condition = select(self.unschedulable[pod], Condition.UNSCHEDULABLE, Condition.ERROR)
        away = self.withdraws(pod)
        patch = Patch(
            condition=condition,
            overrides=away | self.nominee[pod].is_some,
            node=select(away, None, self.nominee[pod]),
        )
        self.api_dispatcher.add_patch(pod, patch, self.nominated[pod], self.noted[pod])
        self.patched(pod)

    @step(actor="failure handler", each="pod")
    def lose_patch(self, pod: Pod) -> None:
        """It is the dispatcher's call that may fail."""
        require(False)

    def finish(self, pod: Pod) -> None:
        super().finish(pod)
        self.nominated[pod] = None


@_queued
class BindingsAreQueued(kube.Binding):
    """The binder queues the Binding, and waits for the dispatcher (BindPod, WaitOnFinish). `accepted[p]`: it is going to hear of no error."""

    api_dispatcher: kube.APIDispatcher

    accepted = per(Pod, boolean())

    phrases = UNTOLD

    @step(actor="binding cycle", each="pod")
    @tells(
        changes("api_dispatcher.call"),
        "The binding goroutine queues a patch that is to nominate {pod} where it is about to be bound.",
        "The binding goroutine has nothing new to write about {pod}'s nomination, and goes on.",
    )
    def announce(self, pod: Pod) -> None:
        """PatchPodStatus: the node that the pod is about to go to is to be its nomination."""
        self._require_announcement(pod)
        copy = self.copy[pod]
        patch = Patch(overrides=True, node=self.node[pod])
        self.api_dispatcher.add_patch(pod, patch, copy.nominated, copy.failed)
        self.pass_permit(pod)

    @step(actor="binding cycle", each="pod")
    def fail_to_announce(self, pod: Pod) -> None:
        """It is the dispatcher's call that may fail."""
        require(False)

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine queues the Binding of {pod}, and waits.")
    def queue_binding(self, pod: Pod) -> None:
        """BindPod; a patch of the pod's status that waits is dropped."""
        require((self.phase[pod] == BindingPhase.BIND) & ~self.api_dispatcher.has_binding(pod))
        self.api_dispatcher.add_binding(pod)

    def require_bind(self, pod: Pod) -> None:
        super().require_bind(pod)
        require(self.api_dispatcher.may_post(pod))

    def bind_answered(self, pod: Pod, succeeded: Expr) -> None:
        self.accepted[pod] = succeeded
        self.phase[pod] = BindingPhase.POSTED
        self.api_dispatcher.posted(pod)

    def call_returned(self, pod: Pod) -> None:
        succeeded = self.accepted[pod]
        self.accepted[pod] = False
        self.bind_returned(pod, succeeded)


@_queued
class ClearingIsQueued(kube.AsyncPreemption):
    """The goroutine of a preemption queues the withdrawal of lower nominations, and hears of no error.

    Nobody looks whether the object of a nominated pod carries the field. `shown_nomination[p][q]`, `shown_failed[p][q]`: what the object of q says of its
    nomination and its condition.
    """

    api_dispatcher: kube.APIDispatcher

    shown_nomination = per(Pod, per(Pod, ref(Node)))
    shown_failed = per(Pod, per(Pod, boolean()))

    phrases = UNTOLD

    @step(actor="preemption goroutine", each="pod")
    @tells("A goroutine begins to make room for {pod} on {node}.")
    def begin(self, pod: Pod, node: Node) -> None:
        """The goroutine reads which pods of lower priority are nominated to the chosen node."""
        super().begin(pod, node)
        for q in self.universe[Pod]:
            due = self.to_clear[pod][q]
            self.shown_nomination[pod][q] = select(due, self.queue.copy[q].nominated, None)
            self.shown_failed[pod][q] = due & self.queue.copy[q].failed

    @step(actor="preemption goroutine", each="pod")
    @tells(
        changes("api_dispatcher.call"),
        "The goroutine of {pod} queues the withdrawal of the nomination of {other}.",
        "The goroutine has nothing to queue for {other}, whose object says that it is not nominated.",
    )
    def clear_nomination(self, pod: Pod, other: Pod) -> None:
        """PatchPodStatus: a pod that passes for one of lower priority is not to be nominated any more."""
        self.require_phase(pod, kube.AsyncPhase.CLEAR)
        require(self.to_clear[pod][other])
        carried, noted = self.shown_nomination[pod][other], self.shown_failed[pod][other]
        self.api_dispatcher.add_patch(other, Patch(overrides=True), carried, noted)
        self.to_clear[pod][other] = False
        self.shown_nomination[pod][other] = None
        self.shown_failed[pod][other] = False
        self._proceed(pod)

    @step(actor="preemption goroutine", each="pod")
    def fail_to_clear_nomination(self, pod: Pod, other: Pod) -> None:
        """It is the dispatcher's call that may fail."""
        require(False)


@_queued
class ClearedWhateverTheObject(kube.Nominator):
    """Every nomination to the chosen node is withdrawn, also one that the pod's object does not carry.

    That of a pod in no sub-queue is a bare one, which says nothing of a priority, and nothing is 0. The preemptor itself is such a pod: where it was
    nominated there before, its own goroutine withdraws that.
    """

    def is_withdrawn_from(self, pod: Pod, node: Node) -> Expr:
        return self.nominated_to(pod, node)

    def is_withdrawn_by(self, preemptor: Pod, pod: Pod, node: Node) -> Expr | None:
        priority = select(self.has_object(pod), pod.priority, UNSAID)
        return self.is_withdrawn_from(pod, node) & (priority < preemptor.priority)


@_queued
class ClearingInCycleIsQueued(kube.Scheduler):
    """A scheduling cycle that evicts the victims itself queues the withdrawal of lower nominations."""

    api_dispatcher: kube.APIDispatcher

    @step(actor="scheduler")
    @tells("The scheduler queues the withdrawal of the nomination of {other}.")
    def clear_lower_nomination(self, pod: Pod, other: Pod) -> None:
        """PatchPodStatus: a pod that passes for one of lower priority is not to be nominated to the chosen node any more."""
        require(self.preempts_in_cycle())
        require(self.at(kube.Phase.CLEAR_NOMINATIONS, pod) & self.preemption.to_clear[other])
        copy = self.queue.copy[other]
        self.api_dispatcher.add_patch(other, Patch(overrides=True), copy.nominated, copy.failed)
        self.preemption.to_clear[other] = False
        self.advance_preemption()

    @step(actor="scheduler")
    def fail_to_clear_nomination(self, pod: Pod, other: Pod) -> None:
        """It is the dispatcher's call that may fail."""
        require(False)
