"""The dispatcher of API calls (backend/api_dispatcher, framework/api_calls and backend/api_cache, 1.36; the same since 1.34.0).

Behind the gate SchedulerAsyncAPICalls the scheduler waits for no write of a status. A call is put into a queue that keeps one call for each
UID; a goroutine takes it and executes it. A call that comes while another of its pod waits is merged with it, or takes its place; one that
comes while another is in flight waits until that has returned. Nobody hears of the errors of patches.

Without the gate (`is_there`) nothing of this exists, and callers write for themselves.
"""

from enum import Enum
from typing import Protocol

from ..environment.api import APIServer
from ..environment.faults import Fault, Faults
from ..environment.objects import Node, Pod, PodObject, node_or_none
from ..language import (
    UNTOLD,
    Component,
    Expr,
    Knowledge,
    Lasts,
    Record,
    Value,
    any_of,
    as_expr,
    boolean,
    changes,
    enum,
    finds,
    otherwise,
    per,
    record,
    ref,
    require,
    select,
    step,
    tells,
    when,
)


class CallType(Enum):
    """The kind of a call, by relevance (Relevances in framework/api_calls): a Binding takes the place of a patch."""

    NONE = 0
    PATCH = 1
    BINDING = 2


class Condition(Enum):
    """What a patch says of PodScheduled: nothing, False as Unschedulable, or False as SchedulerError."""

    UNSAID = 0
    UNSCHEDULABLE = 1
    ERROR = 2


class Stage(Enum):
    """How far a pod's call is: in the queue, sent to the API server, or answered by it."""

    NONE = 0
    QUEUED = 1
    SENT = 2
    ANSWERED = 3


class Patch(Record):
    """What a patch of a status changes: the condition, and the nomination if it `overrides` that (ModeOverride; to none, if `node` is none)."""

    condition = enum(Condition)
    overrides = boolean()
    node = ref(Node)


class Call(Record):
    """The call that the queue has for a pod: its kind, what a patch is to bring about, and the status that it is made from.

    `nominated` and `failed` are the nomination and the condition of that status (podStatus).
    """

    kind = enum(CallType)
    patch = record(Patch)
    nominated = ref(Node)
    failed = boolean()


class Binder(Protocol):
    """The binding cycle, which waits for its call."""

    def call_returned(self, pod: Pod) -> None:
        """The dispatcher is through with the pod's Binding."""


SENT_PATCH = (
    changes("api.pod"),
    "The dispatcher's PATCH of {pod}'s status arrives at the API server.",
    finds("api.pod.exists", "pod", False),
    "The dispatcher's PATCH of {pod}'s status arrives: 404, the pod is gone.",
    "The dispatcher's PATCH of {pod}'s status arrives, which changes nothing.",
)


class APIDispatcher(Component):
    """The queue of calls to the API server: at most one call per pod (apiCalls), and one in flight.

    `call[p]` is what the map has for p. `stage[p]` is that of the older call, if one is in flight. `superseded[p]`: one is, and
    `call[p]` came after it. `sent[p]` is what the patch in flight writes, which was made up when it was taken from the queue.
    """

    api: APIServer
    faults: Faults
    binding: Binder

    call = per(Pod, Call)
    stage = per(Pod, enum(Stage))
    superseded = per(Pod, boolean())
    sent = per(Pod, Patch)

    steps_last = Lasts.SHORT

    phrases = UNTOLD
    knowledge = (Knowledge("other goroutines", {"stage": "API call"}),)

    def is_there(self) -> bool:
        """Whether calls to the API server are queued (SchedulerAsyncAPICalls)."""
        return False

    # --- callers ---------------------------------------------------------------------------------------

    def add_patch(self, pod: Pod, patch: Patch, nominated: Value, failed: Value) -> None:
        """PatchPodStatus: queues a patch that is made from a status with this nomination and condition (callQueue.add).

        With a call that it replaces it shares what it does not say itself (Merge). A Binding is more relevant: the patch is dropped.
        One that would change nothing is dropped, and with it the one that it replaces, unless that is in flight.
        """
        old = self.call[pod]
        with when(as_expr(old.kind) != CallType.BINDING):
            made = Call(
                kind=CallType.PATCH, patch=self._merged(old.patch, patch), nominated=nominated, failed=failed
            )
            self.patch_ended(pod)
            with when(self.is_no_op(made) & ~self.in_flight(pod)):
                self._drop(pod)
            with otherwise():
                self._put(pod, made)

    def add_binding(self, pod: Pod) -> None:
        """BindPod: the Binding replaces a waiting patch. If a patch is in flight, the Binding waits for it."""
        self._put(pod, Call(kind=CallType.BINDING))

    def _merged(self, old: Patch, new: Patch) -> Patch:
        keeps = ~as_expr(new.overrides) & as_expr(old.overrides)
        unsaid = as_expr(new.condition) == Condition.UNSAID
        return Patch(
            condition=select(unsaid, old.condition, new.condition),
            overrides=as_expr(new.overrides) | keeps,
            node=select(keeps, old.node, node_or_none(new.node)),
        )

    def _put(self, pod: Pod, call: Call) -> None:
        self.call[pod] = call
        with when(self.in_flight(pod)):
            self.superseded[pod] = True
        with otherwise():
            self.stage[pod] = Stage.QUEUED

    def _drop(self, pod: Pod) -> None:
        self.call[pod] = Call()
        self.stage[pod] = Stage.NONE
        self.patch_ended(pod)

    def patch_ended(self, pod: Pod) -> None:
        """A caller that waited for the pod's patch continues: the patch has returned, was dropped, or was merged into a later one, which can be in flight. In this model, no caller waits."""

    def in_flight(self, pod: Pod) -> Expr:
        """Whether a call of the pod was taken from the queue and is not finalized yet (inFlightEntities)."""
        return any_of(self.stage[pod] == stage for stage in (Stage.SENT, Stage.ANSWERED))

    def is_no_op(self, call: Call) -> Expr:
        """IsNoOp: whether a patch would not change the status from which it is made. The message of a condition counts as unchanged."""
        return ~self._changes_nomination(call) & ~self._changes_condition(call)

    def _changes_nomination(self, call: Call) -> Expr:
        return as_expr(call.patch.overrides) & (node_or_none(call.nominated) != call.patch.node)

    def _changes_condition(self, call: Call) -> Expr:
        condition = as_expr(call.patch.condition)
        news = (condition == Condition.UNSCHEDULABLE) & ~as_expr(call.failed)
        return news | (condition == Condition.ERROR)

    def sync(self, pod: Pod, seen: PodObject) -> None:
        """SyncObject, for an update that a handler received: from now on, the waiting patch is made from the status of this object.

        If it changes nothing of that status it is dropped. What the handler gets back is discarded ("this logic will be handled in the
        future releases").
        """
        if not self.is_there():
            return
        call = self.call[pod]
        waits = (self.stage[pod] == Stage.QUEUED) | self.superseded[pod]
        with when((as_expr(call.kind) == CallType.PATCH) & waits):
            synced = call.replace(nominated=seen.nominated, failed=seen.failed)
            with when(self.is_no_op(synced) & ~self.in_flight(pod)):
                self._drop(pod)
            with otherwise():
                self.call[pod] = synced

    # --- execution -------------------------------------------------------------------------------------

    @step(actor="API dispatcher", each="pod")
    @tells(
        changes("api_dispatcher.stage", after=Stage.SENT),
        "The dispatcher takes the patch of {pod}'s status from its queue: later updates no longer change it.",
        "The dispatcher takes the patch of {pod}'s status from its queue, and there is nothing to write.",
    )
    def execute(self, pod: Pod) -> None:
        """The patch leaves the queue, and its content is fixed (Execute, before the call)."""
        require(self.is_there())
        call = self.call[pod]
        require((self.stage[pod] == Stage.QUEUED) & (as_expr(call.kind) == CallType.PATCH))
        condition, nomination = self._changes_condition(call), self._changes_nomination(call)
        self.sent[pod] = Patch(
            condition=select(condition, call.patch.condition, Condition.UNSAID),
            overrides=nomination,
            node=select(nomination, call.patch.node, None),
        )
        # What the call was made from is of no use any more.
        self.call[pod] = call.replace(nominated=None, failed=False)
        self.stage[pod] = select(condition | nomination, Stage.SENT, Stage.ANSWERED)

    @step(actor="API dispatcher", each="pod")
    @tells(*SENT_PATCH)
    def patch(self, pod: Pod) -> None:
        """The PATCH reaches the API server, by name, and without a precondition."""
        require(self.is_there())
        require(self.stage[pod] == Stage.SENT)
        sent = self.sent[pod]
        condition, node = as_expr(sent.condition), node_or_none(sent.node)
        failed = select(
            condition == Condition.UNSAID,
            self.api.under_name(pod).failed,
            condition == Condition.UNSCHEDULABLE,
        )
        self.api.patch_status(pod, failed, node, as_expr(sent.overrides) & node.is_none)
        self._answered(pod)

    @step(actor="API dispatcher", each="pod")
    @tells("The dispatcher's PATCH of {pod}'s status fails, and nobody is notified of it.")
    def lose_patch(self, pod: Pod) -> None:
        """The PATCH fails, and the error is only logged."""
        require(self.is_there() and bool(self.scope.status_failures))
        require(self.stage[pod] == Stage.SENT)
        self.faults.spend(Fault.STATUS_FAILURE, pod)
        self._answered(pod)

    def _answered(self, pod: Pod) -> None:
        self.sent[pod] = Patch()
        self.stage[pod] = Stage.ANSWERED

    def may_post(self, pod: Pod) -> Expr:
        """Whether the pod's next call is its Binding."""
        return (self.stage[pod] == Stage.QUEUED) & self.has_binding(pod)

    def has_binding(self, pod: Pod) -> Expr:
        """Whether the queue has a Binding of the pod."""
        return as_expr(self.call[pod].kind) == CallType.BINDING

    def posted(self, pod: Pod) -> None:
        """The API server has answered the pod's Binding. (The Binding left the queue earlier; this makes no difference, because nothing replaces it.)"""
        self.stage[pod] = Stage.ANSWERED

    @step(actor="API dispatcher", each="pod")
    @tells(
        changes("api_dispatcher.superseded", after=False),
        "The dispatcher's call for {pod} has returned; the one that came meanwhile is next.",
        "The dispatcher's call for {pod} has returned.",
    )
    def finalize(self, pod: Pod) -> None:
        """finalize and sendOnFinish: the call leaves the map, or a later call is queued. Only for a Binding does a caller wait."""
        require(self.is_there())
        require(self.stage[pod] == Stage.ANSWERED)
        with when(self.superseded[pod]):
            self.superseded[pod] = False
            self.stage[pod] = Stage.QUEUED
        with otherwise():
            with when(self.has_binding(pod)):
                self.binding.call_returned(pod)
            self._drop(pod)

    # --- for properties --------------------------------------------------------------------------------

    def has_patch(self, pod: Pod) -> Expr:
        """Whether a patch of the pod's status is waiting or in flight."""
        waits = as_expr(self.call[pod].kind) == CallType.PATCH
        return waits | (self.stage[pod] == Stage.SENT)

    def is_writing(self, pod: Pod) -> Expr:
        """Whether a patch of the pod's status is in flight."""
        return self.stage[pod] == Stage.SENT
