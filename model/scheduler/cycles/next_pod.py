"""What the scheduling goroutine knows between two steps, and how a cycle begins: NextPod and skipPodSchedule (schedule_one.go, 1.36)."""

from ...environment.names import Recreation
from ...environment.objects import Node, Pod, PodCopy
from ...language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Lasts,
    Words,
    any_of,
    as_expr,
    boolean,
    enum,
    per,
    record,
    ref,
    require,
    step,
    tells,
    when,
)
from ..cache.scheduler_cache import Cache
from ..cache.snapshot import Snapshot
from ..framework.events import Plugin
from ..framework.interface import GroupCycles
from ..framework.status import NodeStatus, Phase
from ..preemption.evaluator import Preemption
from ..queue.scheduling_queue import PriorityQueue
from .failure import FailureHandler, FailurePhase


class NextPod(Component):
    """What the scheduling goroutine knows between two steps, and how it takes a pod.

    `phase` is the next thing that it does. `pod` is the pod of this cycle and `copy` its object as the queue had it.
    `verdict` is the status of each node, `host` is the node that was chosen. `nominee` is the node that preemption
    chose; `withdraws` says that preemption found none, for good. `error`: the attempt ended in an error rather than in "does
    not fit". `scheduler_error`: the condition's reason is to be SchedulerError. `missing` is the node that the error says does
    not exist. `rejected_by` is the fit error's diagnosis: the plugins for which some node was no choice. `stands_in[r]`: preemption in the
    cycle of `r.before` is for `r.after`, which has its name.

    A pod for which no plugin has work at an extension point passes it within the step before.
    """

    queue: PriorityQueue
    cache: Cache
    snapshot: Snapshot
    preemption: Preemption
    failure: FailureHandler
    pod_group_cycle: GroupCycles

    phase = enum(Phase)
    pod = ref(Pod)
    copy = record(PodCopy)
    host = ref(Node)
    nominee = ref(Node)
    withdraws = boolean()
    error = boolean()
    scheduler_error = boolean()
    missing = ref(Node)
    verdict = per(Node, enum(NodeStatus))
    rejected_by = per(Plugin, boolean())
    stands_in = per(Recreation, boolean())

    steps_last = Lasts.SHORT

    phrases = {
        "stands_in": Words("preemption goes on for {0}, which has the name", decisive=True),
        "verdict": Words("{pod} {after} {0}"),
        "nominee": Words("decision: {pod} is to go to {after}", decisive=True),
        "error": Words("the attempt to schedule {pod} ends in an error", decisive=True),
    }
    knowledge = (
        Knowledge(
            "scheduling cycle",
            {
                "pod": Fact("pod", "busy with {value}", "busy with no pod"),
                "phase": "phase",
                "host": Fact("host", "host {value}"),
                "nominee": Fact("nominee", "decided for {value}"),
                "error": Fact("error", "in error"),
                "verdict": Fact("verdict", "{value} it"),
            },
            subject="the cycle",
        ),
    )

    def at(self, phase: Phase, pod: Pod) -> Expr:
        """Whether the goroutine is about to do `phase` for `pod`."""
        return (self.phase == phase) & self._acts_for(pod)

    def _acts_for(self, pod: Pod) -> Expr:
        acts = self.pod == pod
        for r in self.universe[Recreation]:
            if r.before is pod:
                acts = acts & ~self.stands_in[r]
            if r.after is pod:
                acts = acts | self.stands_in[r]
        return as_expr(acts)

    def end(self) -> None:
        """scheduleOne returns, and everything in the cycle is dropped."""
        self.phase = Phase.IDLE
        self.pod = None
        self.copy = PodCopy()
        self._forget_attempt()
        self.snapshot.clear()
        self.pod_group_cycle.clear()

    def _forget_attempt(self) -> None:
        self.host = None
        self.nominee = None
        self.withdraws = False
        self.error = False
        self.scheduler_error = False
        self.missing = None
        for node in self.universe[Node]:
            self.verdict[node] = NodeStatus.UNTRIED
        for plugin in self.universe[Plugin]:
            self.rejected_by[plugin] = False
        self.preemption.clear()

    def end_in_error(self, pod: Pod) -> None:
        """schedulePod returns an error that is not a FitError: the condition's reason is SchedulerError. (For a member of a group, it is Unschedulable here: A-CONDITION.)"""
        self.error = True
        if self.pod_group_cycle.member(pod) is None:
            self.scheduler_error = True
        self.phase = Phase.FAIL

    def turn_to(self, pod: Pod, copy: PodCopy) -> None:
        """The cycle of a group continues with its next member."""
        self._forget_attempt()
        self.pod = pod
        self.copy = copy

    @step(actor="scheduler", lasts=Lasts.ANY_TIME)
    @tells("The scheduler takes {pod} from the head of activeQ.")
    def pop(self, pod: Pod) -> None:
        """NextPod: take the head of activeQ."""
        require(self.phase == Phase.IDLE)
        discarded = self.queue.discards(pod)
        self._begin(pod, discarded, self.queue.pop(pod))

    @step(actor="scheduler", lasts=Lasts.ANY_TIME)
    @tells(
        "Parked pods are still being moved when the scheduler takes {pod}: others may follow that come before it, and the event is recorded only now."
    )
    def pop_amid_move(self, pod: Pod) -> None:
        """NextPod, which waits only for activeQ's lock, while the move that brought the pod still runs."""
        require(self.phase == Phase.IDLE)
        discarded = self.queue.discards(pod)
        self._begin(pod, discarded, self.queue.pop_amid_move(pod))
        with when(~(discarded | self.skips(pod)) | as_expr(self.pod_group_cycle.member(pod) is not None)):
            self.queue.settle()

    def _begin(self, pod: Pod, discarded: Expr, copy: PodCopy) -> None:
        with when(~discarded):
            self.pod = pod
            self.copy = copy
            if self.pod_group_cycle.member(pod) is None:
                self.phase = Phase.POPPED
            else:
                self.phase = Phase.POD_GROUP
                self.pod_group_cycle.begin(pod)

    def pops_next(self) -> Expr:
        """Whether the cycle pops the next pod before any call that takes the queue's lock. Filters and requeues take it."""
        on_the_way = (Phase.IDLE, Phase.SELECT, Phase.ASSUMED, Phase.RESERVE, Phase.PERMIT)
        skipping = any_of(self.at(Phase.POPPED, p) & self.skips(p) for p in self.universe[Pod])
        writing = any_of(
            self.at(Phase.FAILING, p) & (self.failure.phase[p] == FailurePhase.PATCH)
            for p in self.universe[Pod]
        )
        going = any_of(self.phase == phase for phase in on_the_way) | skipping | writing
        return going & ~self.pod_group_cycle.runs()

    def skips(self, pod: Pod) -> Expr:
        """skipPodSchedule: whether the pod is being deleted, or is assumed."""
        return self.copy.terminating | self.cache.is_assumed(pod)

    @step(actor="scheduler")
    @tells("The scheduler leaves {pod} alone: it needs no scheduling any more.")
    def skip(self, pod: Pod) -> None:
        """The popped pod does not need to be scheduled."""
        require(self.at(Phase.POPPED, pod))
        require(self.skips(pod))
        self.skipped(pod)
        self.end()

    def skipped(self, pod: Pod) -> None:
        """The skipped pod is no longer in flight."""
        self.queue.done(pod)
