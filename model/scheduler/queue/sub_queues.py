"""activeQ, backoffQ and unschedulablePods: who is in which, in what order, and where a pod comes to (backend/queue, 1.34)."""

from enum import Enum

from ...environment.api import APIServer
from ...environment.cluster.scope import passing_claims
from ...environment.names import namesakes
from ...environment.objects import FAILED, GATED, NOMINATED, TERMINATING, Pod, PodCopy, PodObject
from ...language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    enum,
    per,
    select,
    spoken,
)
from ..framework.events import (
    DYNAMIC_RESOURCES,
    GANG_SCHEDULING,
    SCHEDULING_GATES,
    Action,
    ClusterEvent,
    Plugin,
)
from ..framework.interface import ClaimGate, GangPlugin, GroupCycles, PreEnqueuePlugin
from .clock import Clock


@spoken(ACTIVE="activeQ", BACKOFF="backoffQ", UNSCHEDULABLE="unschedulableQ")
class SubQueue(Enum):
    """The sub-queue that a pod is in."""

    NONE = 0
    ACTIVE = 1
    BACKOFF = 2
    UNSCHEDULABLE = 3


class SubQueues(Component):
    """activeQ, backoffQ and unschedulablePods, with the copies of the pods that they hold.

    `rejected_by[p]` are the plugins for which p's last attempt did not fit. `in_flight[p]`: p was popped, and Done was
    not called for it yet. Upstream keeps the events since the Pop in a list, and asks the hints when the pod comes back;
    an event's hint depends on nothing that changes but the pod's object (A-HINT-OBJECT), so it is asked here when the event comes: `in_flight_events[p][g]` says that
    plugin g, had it rejected p, would have it tried again. `gated[p]`: when p was last to leave the parked pods, a PreEnqueue
    plugin held it back.
    """

    api: APIServer
    clock: Clock
    async_preemption: PreEnqueuePlugin
    dynamic_resources: ClaimGate
    gang_scheduling: GangPlugin
    pod_group_cycle: GroupCycles

    sub_queue = per(Pod, enum(SubQueue))
    copy = per(Pod, PodCopy)
    rejected_by = per(Pod, per(Plugin, boolean()))
    in_flight = per(Pod, boolean())
    in_flight_events = per(Pod, per(Plugin, boolean()))
    gated = per(Pod, boolean())
    just_moved = per(Pod, boolean())
    late_events = per(Pod, per(Plugin, boolean()))

    phrases = {
        "sub_queue": Words("queue: {0} is in {after}", "queue: {0} leaves {before}"),
        "gated": Words("queue: {0} is held back (PreEnqueue)", "queue: {0} is held back no more"),
    }
    knowledge = (
        Knowledge(
            "queue",
            {
                "sub_queue": Fact("sub_queue", "in {value}", "in no queue"),
                "copy.nominated": NOMINATED,
                "copy.failed": FAILED,
                "copy.terminating": TERMINATING,
                "copy.gated": GATED,
            },
            key="sub_queue",
        ),
    )

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            if pod.exists and pod.node is None and not pod.foreign:
                start = self.api.at_start(pod)
                self.put(pod, self.entering(pod, SubQueue.ACTIVE, start), start.copy())

    def put(self, pod: Pod, sub_queue: Value, copy: PodCopy) -> None:
        """Put this object of the pod into one of the sub-queues, or into none."""
        self.sub_queue[pod] = sub_queue
        self.copy[pod] = copy

    def contains(self, pod: Pod) -> Expr:
        """Whether the pod is in one of the sub-queues."""
        return self.sub_queue[pod] != SubQueue.NONE

    def keeps_aside(self, pod: Pod) -> Expr:
        """Whether the queue has the pod outside of the sub-queues, and will bring it back."""
        return as_expr(False)

    def contains_name(self, pod: Pod) -> Expr:
        """Whether a sub-queue has an entry with the pod's name. It can be another pod's."""
        return any_of(self.contains(q) for q in (pod, *namesakes(self.universe, pod)))

    # --- order -----------------------------------------------------------------------------------

    def precedes(self, a: Pod, b: Pod) -> Expr:
        """activeQ's order: higher priority first, then the older timestamp (queuesort, PrioritySort)."""
        return (a.priority > b.priority) | ((a.priority == b.priority) & self.clock.is_older(a, b))

    def is_head(self, pod: Pod) -> Expr:
        """Whether Pop would return this pod: the head of activeQ, or, if activeQ is empty, a pod in backoffQ."""
        idle = all_of(self.sub_queue[q] != SubQueue.ACTIVE for q in self.universe[Pod])
        return self.is_head_of_active(pod) | (idle & self.is_popped_early(pod))

    def is_popped_early(self, pod: Pod) -> Expr:
        """Whether Pop can take the pod out of backoffQ, where pods that no plugin rejected are separate."""
        return (self.sub_queue[pod] == SubQueue.BACKOFF) & self.is_rejected(pod)

    def is_head_of_active(self, pod: Pod) -> Expr:
        """Whether the pod is the head of activeQ."""
        first = [
            (self.sub_queue[q] != SubQueue.ACTIVE) | ~self.precedes(q, pod)
            for q in self.universe[Pod]
            if q is not pod
        ]
        return all_of([self.sub_queue[pod] == SubQueue.ACTIVE, *first])

    # --- where a pod comes to --------------------------------------------------------------------

    def entering(self, pod: Pod, sub_queue: Value, copy: PodCopy | PodObject) -> Expr:
        """PreEnqueue: the sub-queue of a pod that should enter activeQ or backoffQ. If a plugin holds the pod back, it is parked as gated."""
        gates = self.has_gates(pod, copy)
        alone = self.gang_scheduling.holds(pod)
        early, held = self._held(pod, copy)
        holding = {SCHEDULING_GATES: gates, GANG_SCHEDULING: alone & ~gates, DYNAMIC_RESOURCES: held & ~early}
        self.gated[pod] = held
        for plugin in self.universe[Plugin]:
            if plugin.name in holding:
                self.rejected_by[pod][plugin] = self.rejected_by[pod][plugin] | holding[plugin.name]
        return select(held, SubQueue.UNSCHEDULABLE, sub_queue)

    def is_held(self, pod: Pod, copy: PodCopy | PodObject) -> Expr:
        """Whether a PreEnqueue plugin holds the pod back."""
        return self._held(pod, copy)[1]

    def _held(self, pod: Pod, copy: PodCopy | PodObject) -> tuple[Expr, Expr]:
        """Whether a plugin before DynamicResources holds the pod back, and whether any does."""
        early = self.has_gates(pod, copy) | self.async_preemption.holds(pod) | self.gang_scheduling.holds(pod)
        if not self.waits_for_claims(pod):
            return early, early
        return early, early | ~self.dynamic_resources.is_ready(pod, copy.named)

    def waits_for_claims(self, pod: Pod) -> bool:
        """Whether the pod has claims, and claims can be created and deleted."""
        return bool(pod.claims) and bool(passing_claims(self.scope))

    def has_gates(self, pod: Pod, copy: PodCopy | PodObject) -> Expr:
        """PreEnqueue of SchedulingGates: whether this object of the pod has scheduling gates. The old object of an Update can be that of an earlier pod with the name."""
        either = (pod, *namesakes(self.universe, pod))
        return as_expr(copy.gated if any(each.gated for each in either) else False)

    def held_with(self, pod: Pod) -> list[Pod]:
        """The pods whose scheduling gates also hold this pod back: none, because each pod has its own entry."""
        return []

    def is_gated_for(self, pod: Pod, event: ClusterEvent) -> Expr:
        """Whether the parked pod is gated, and the plugin that gates it did not register for the event.

        DefaultPreemption asked for deletions, SchedulingGates for nothing: whatever moves its pods, PreEnqueue parks them again.
        An event that is meant for all pods, such as the periodic flush, passes the gate.
        """
        if event.is_wildcard and self.wildcards_pass_gates():
            return as_expr(False)
        closed = self.gated[pod] & (not self.may_open_gate(event))
        if self.waits_for_claims(pod):
            closed = self._closed_by(DYNAMIC_RESOURCES, pod, event, closed)
        if self.gang_scheduling.gang(pod) is None and pod.group is None:
            return closed
        return self._closed_by(GANG_SCHEDULING, pod, event, closed)

    def _closed_by(self, name: str, pod: Pod, event: ClusterEvent, otherwise: Expr) -> Expr:
        """Whether the gate does not open for the event, if this plugin gates the pod."""
        for plugin in self.universe[Plugin]:
            if plugin.name == name:
                mine = self.rejected_by[pod][plugin]
                return select(mine, self.gated[pod] & (not plugin.asked_for(event)), otherwise)
        return otherwise

    def wildcards_pass_gates(self) -> bool:
        """Whether an event for all pods moves a gated pod."""
        return True

    def may_open_gate(self, event: ClusterEvent) -> bool:
        """Whether DefaultPreemption registered for the event."""
        return event.resource == "Pod" and Action.DELETE in event.action

    def is_rejected(self, pod: Pod) -> Expr:
        """Whether a plugin is recorded as having rejected the pod."""
        return any_of(self.rejected_by[pod][p] for p in self.universe[Plugin])

    def backoff_sub_queue(self) -> SubQueue:
        """The sub-queue in which a pod waits until its backoff ends."""
        return SubQueue.BACKOFF

    def backing_off_sub_queue(self) -> SubQueue:
        """The sub-queue of a pod whose backoff begins. Without a backoff, the pod leaves backoffQ at once."""
        return self.backoff_sub_queue() if self.scope.backoff else SubQueue.ACTIVE

    def retry_sub_queue(self, pod: Pod) -> Expr:
        """The sub-queue for a parked pod that should be tried again."""
        return select(self.clock.is_backing_off(pod), self.backing_off_sub_queue(), SubQueue.ACTIVE)
