"""The scheduling queue, and what is kept out of it, as it was."""

from collections.abc import Mapping

from ....environment.api import APIServer
from ....environment.names import namesakes
from ....environment.objects import Node, Pod, PodCopy, PodObject
from ....environment.watch import Handler
from ....language import (
    UNTOLD,
    Expr,
    Lasts,
    Value,
    any_of,
    as_expr,
    boolean,
    per,
    require,
    select,
    step,
    tells,
    when,
)
from ....scheduler import Binding, EventHandlers, PriorityQueue, QueueWithoutHints, Scheduler
from ....scheduler.framework.events import About, ClusterEvent, Plugin
from ....scheduler.framework.status import Phase
from ....scheduler.queue.moves import Mover
from ....scheduler.queue.scheduling_queue import SubQueue
from ...registry.change import always, before, never, no
from ...versions import PRE_RELEASES
from .event_handlers import TARGETS


@before(
    "73309",
    "a move request is compared with the number of the scheduling cycle",
    first_in="1.14",
    issues=(73216,),
    backports=("1.12.6", "1.13.4"),
)
class Before73309(QueueWithoutHints):
    """A move request was one flag, which the next Pop cleared."""

    def move_came(self, pod: Pod) -> Expr:
        return as_expr(self.moved)


@before(
    "72558",
    "pods that have been parked for a long time are moved",
    first_in="1.14",
    issues=(72122,),
    backports=("1.12.6", "1.13.3"),
)
class Before72558(PriorityQueue):
    """A parked pod waited for an event, however long."""

    def flush_unschedulable(self, pod: Pod) -> None:
        """There was no such flush."""
        require(False)


@before(
    "71488",
    "pods of equal priority wait in the order of their timestamps",
    first_in="1.14",
    backports=("1.12.4", "1.13.1"),
)
class Before71488(PriorityQueue):
    """activeQ compared priorities only: of equal pods, any could be the head of the heap."""

    def precedes(self, a: Pod, b: Pod) -> Expr:
        return a.priority > b.priority


@before("backoff-queue", "a pod whose backoff is not over waits in backoffQ", first_in="1.14")
class BeforeBackoffQueue(PriorityQueue):
    """There was no backoffQ: what was not parked went to activeQ."""

    def backoff_sub_queue(self) -> SubQueue:
        return SubQueue.ACTIVE


@before(
    "requeue-ignores-condition",
    "a requeued pod is parked, whatever its condition",
    first_in="1.14",
    after=("73309",),
)
class RequeueChecksCondition(PriorityQueue):
    """A pod was parked only if its object already said PodScheduled=False, Unschedulable."""

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        return super().is_retried(pod, copy) | ~as_expr(copy.failed)


@before("98829", "an update respects the backoff of a waiting pod", first_in="1.21", issues=(98828,))
class Before98829(PriorityQueue):
    """An update took a pod out of backoffQ, and a parked one past its backoff, straight to activeQ."""

    def sub_queue_after_update(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        stays = (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE) & ~self.is_respecified(old, new)
        return select(stays, SubQueue.UNSCHEDULABLE, SubQueue.ACTIVE)


_IN_FLIGHT = (
    "events that arrive while a pod is in flight are kept, and passed to its plugins (SchedulerQueueingHints)"
)


@before("118438", _IN_FLIGHT, first_in="1.32", also_in=("1.28",), gate="SchedulerQueueingHints")
class HintsOff(QueueWithoutHints):
    """Move requests were compared with scheduling cycles; the gate was on in 1.28.0, and off again up to 1.31."""


@before("119105", "a pod whose attempt ended in an error is tried again", first_in="1.29", issues=(104013,))
class ErrorsAreParked(PriorityQueue):
    """A pod that no plugin had rejected was parked, too, unless something came since its Pop (1.28) or its failure."""

    def is_retried_after_error(self, pod: Pod) -> Expr:
        return any_of(self.in_flight_events[pod][p] for p in self.universe[Plugin])


@before(
    "120334",
    "a popped pod starts without the plugins that rejected it before",
    first_in="1.29",
    backports=("1.25.15", "1.26.10", "1.27.7", "1.28.3"),
)
class RejectionsOutlivePop(PriorityQueue):
    """A popped pod kept the record of who had rejected it until its next rejection."""

    def drop_rejection(self, pod: Pod) -> None:
        """Kept."""


@before(
    "120413",
    "each pod in flight has its own position in the list of events",
    first_in="1.29",
    since="1.28",
    backports=("1.28.2",),
)
class EventsCounted(PriorityQueue):
    """A popped pod remembered the last event; with the last pod that this event was kept for, it left the list (1.28.0).

    A pod that had it as its mark then saw no event at all, neither those before nor those to come. `newest` are the pods in
    flight that the last event of the list is kept for, `mark[p]` those that the event is kept for which p remembers.
    """

    newest = per(Pod, boolean())
    mark = per(Pod, per(Pod, boolean()))
    deaf = per(Pod, boolean())

    phrases = UNTOLD

    def begin_attempt(self, pod: Pod) -> None:
        super().begin_attempt(pod)
        for q in self.universe[Pod]:
            if q is not pod:
                self.mark[pod][q] = self.newest[q]

    def record_move(self, event: ClusterEvent, about: About) -> None:
        super().record_move(event, about)
        for pod in self.universe[Pod]:
            self.newest[pod] = self.in_flight[pod]
            for plugin in self.universe[Plugin]:
                self.in_flight_events[pod][plugin] = self.in_flight_events[pod][plugin] & ~self.deaf[pod]

    def done(self, pod: Pod) -> None:
        super().done(pod)
        self.newest[pod] = False
        self.deaf[pod] = False
        others = [q for q in self.universe[Pod] if q is not pod]
        for q in others:
            self.mark[pod][q] = False
            with when(self.mark[q][pod] & ~any_of(self.mark[q][r] for r in others if r is not q)):
                self.deaf[q] = True
                for plugin in self.universe[Plugin]:
                    self.in_flight_events[q][plugin] = False
            self.mark[q][pod] = False


@before("126962", "a popped pod that is skipped is no longer in flight", first_in="1.32", issues=(120622,))
class SkippedStayInFlight(Scheduler):
    """Done was not called for a popped pod that needed no scheduling: all later events were kept for it."""

    def skipped(self, pod: Pod) -> None:
        """It stays in flight."""


@before("requeue-keeps-nomination", "the requeue does not change nominations", first_in="1.31")
class RequeueNominates(PriorityQueue):
    """AddUnschedulableIfNotPresent nominated the pod by the field of the object that it queued."""

    def came_back(self, pod: Pod, copy: PodCopy) -> None:
        self.nominator.add(pod, None, copy.nominated)


_UPDATES_KEPT = "an update of a pod in flight does not queue it"


@before(
    "125578",
    _UPDATES_KEPT,
    first_in="1.32",
    issues=(118226,),
    gate="SchedulerQueueingHints",
    gated_in="1.32",
    after=("118438",),
)
class UpdatesQueuePodsInFlight(PriorityQueue):
    """The queue did not know, and added the pod to activeQ while it was being scheduled; of a parked one it asked no plugin."""

    keeps_update = never
    is_moved_by_update = never
    is_moved_by_change = never
    discards = never


@before(
    "125578", _UPDATES_KEPT, first_in="1.32", issues=(118226,), gate="SchedulerQueueingHints", gated_in="1.32"
)
class DoneAtTheEnd(Binding):
    """Events were kept for a pod until its binding cycle ended."""

    def bindable(self, pod: Pod) -> None:
        """Nothing yet."""

    def bound(self, pod: Pod) -> None:
        self.queue.done(pod)


@before("125692", "Pop takes its own lock, that of activeQ", first_in="1.31")
class PopUnderQueueLock(PriorityQueue):
    """Pop waited for the queue's lock, and so until a move was over."""

    def note_move(self, moved: Mapping[Pod, Expr], event: ClusterEvent, about: About) -> None:
        """Nobody can tell that a move takes time."""

    def settle(self) -> None:
        """Nothing is noted."""

    def moved_by(self, mover: Mover) -> None:
        """Nor is whose move it was."""


@before("125692", "Pop takes its own lock, that of activeQ", first_in="1.31")
class NothingPopsAmidMoves(Scheduler):
    """Pop came before a move, or after it."""

    @step(actor="scheduler", lasts=Lasts.ANY_TIME)
    def pop_amid_move(self, pod: Pod) -> None:
        """There was no such thing."""
        require(False)


@before(
    "update-in-one-lock",
    "Update looks for a pod in flight, in activeQ and in backoffQ under one lock",
    first_in="1.35",
    since="1.32",
)
class UpdateInTwoLocks(EventHandlers):
    """Update let activeQ's lock go between its looks: a pod that Pop took meanwhile was in flight, and was added to activeQ as unknown.

    All that can come between the looks takes no lock of the queue, and commutes with the rest of Update, but Pop of this very pod.
    """

    scheduler: Scheduler

    @step(actor="queue handler")
    @tells(
        "The queue's handler updates {pod}, which is not in flight; before it finds it, the scheduler takes it from the queue; the handler finds it in no sub-queue, and adds it to activeQ."
    )
    def update_around_pop(self, pod: Pod) -> None:
        """queue.Update, with the Pop of the pod between its first look and the others."""
        require(self.queue_busy)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        require(~self.queue.keeps_update(pod))
        self.scheduler.pop(pod)
        self.queue.add(pod, new)
        self.queue_busy = False
        self.conclude(pod, old, new)


@before(
    "activation-trusts-backoff",
    "PreEnqueue does not run again for a pod that is activated from backoffQ",
    "1.35",
)
class ActivationAsksAgain(PriorityQueue):
    """Every pod that was activated passed the PreEnqueue plugins (up to 1.34, where a pod in backoffQ had passed them since 1.33)."""

    is_past_pre_enqueue = no


@before(
    "139057",
    "the nomination of a pod counts even if the pod is created with a scheduling gate",
    first_in="1.37",
)
class GatedPodsAreNotNominated(PriorityQueue):
    """moveToActiveQ noted the nomination of a new pod, and only of one that it put into activeQ."""

    def nominates_added(self, pod: Pod) -> Expr:
        return self.sub_queue[pod] == SubQueue.ACTIVE


@before(
    "entries-of-one-name",
    "a pod that enters activeQ does not remove the entry of its name from backoffQ",
    first_in="1.37",
)
class OneEntryForAName(PriorityQueue):
    """moveToActiveQ (Add, up to 1.28) took the name out of backoffQ."""

    def enter_added(self, pod: Pod, new: PodObject) -> None:
        super().enter_added(pod, new)
        for other in namesakes(self.universe, pod):
            self._drop(other, self.sub_queue[pod] == SubQueue.ACTIVE)


@before(
    "gated-beside-another",
    "a pod that is held back is added, whatever activeQ and backoffQ hold under its name",
    first_in="1.37",
    since="1.31",
    after=("entries-of-one-name",),
)
class GatedPodsAreLeftOut(PriorityQueue):
    """A pod that a plugin held back was not added where activeQ or backoffQ had its name."""

    def is_left_out(self, pod: Pod, new: PodObject) -> Expr:
        others = namesakes(self.universe, pod)
        waiting = (SubQueue.ACTIVE, SubQueue.BACKOFF)
        taken = any_of(self.sub_queue[one] == place for one in (pod, *others) for place in waiting)
        return super().is_left_out(pod, new) | (self.is_held(pod, new) & taken if others else as_expr(False))


@before(
    "gated-replaces-parked",
    "a pod that is held back replaces the parked entry of its name",
    first_in="1.36",
    since="1.33",
)
class ParkedEntriesStay(PriorityQueue):
    """A pod that a plugin held back was not added where a parked entry had its name: that entry kept the plugins that had rejected it."""

    def is_left_out(self, pod: Pod, new: PodObject) -> Expr:
        others = namesakes(self.universe, pod)
        parked = any_of(self.sub_queue[one] == SubQueue.UNSCHEDULABLE for one in (pod, *others))
        return super().is_left_out(pod, new) | (self.is_held(pod, new) & parked if others else as_expr(False))


@before("135905", TARGETS, first_in="1.37")
class NamesOfOnesOwn(PriorityQueue):
    """DynamicResources compared the UIDs (isSchedulableAfterPodChange)."""

    def told_of_names(self, pod: Pod) -> list[Pod]:
        return [pod]


@before(
    "139162",
    "the periodic flush also tries pods that are marked as gated",
    first_in="1.37",
    issues=(139162,),
    since="1.34",
    backports=("1.35.8", "1.36.4"),
)
class GatedPodsAreNotFlushed(PriorityQueue):
    """The flush was an event that the gating plugin had not asked for."""

    wildcards_pass_gates = no


@before(
    "pre-queueing-hints",
    "a change of a claim runs only the hints of the pods that name it (SchedulerPreQueueingHints)",
    first_in=PRE_RELEASES[0],
    gate="SchedulerPreQueueingHints",
    gated_in="1.37",
)
class EveryParkedPodAsked(PriorityQueue):
    """Every parked pod was looked at, and one that no plugin was known to have rejected was moved by any change of a claim."""

    is_asked_about = always


@before(
    "gating-plugin-events",
    "a gated pod is notified only of events that the plugin that gates it has registered",
    "1.34",
)
class HeldPodsHear(PriorityQueue):
    """Only scheduling gates kept events from a pod; one that preemption held back was moved by any event (1.33)."""

    def is_gated_for(self, pod: Pod, event: ClusterEvent) -> Expr:
        return super().is_gated_for(pod, event) & self.has_gates(pod, self.copy[pod])

    def is_woken_by(self, pod: Pod, event: ClusterEvent, about: About = None) -> Expr:
        return ~self.is_rejected(pod) | self.matches(pod, event, about)


@before(
    "pop-from-backoff",
    "an idle scheduler takes pods that are backing off (SchedulerPopFromBackoffQ)",
    first_in="1.33",
    gate="SchedulerPopFromBackoffQ",
)
class BackoffIsWaitedFor(PriorityQueue):
    """A pod left backoffQ only when its backoff was over, and PreEnqueue was asked then, not when the pod entered it.

    That PreEnqueue comes later makes a difference only to what DefaultPreemption holds: a pod with scheduling gates is never tried, so that it
    never backs off.
    """

    def entering(self, pod: Pod, sub_queue: Value, copy: PodCopy | PodObject) -> Expr:
        if not self.async_preemption.is_there():
            return super().entering(pod, sub_queue, copy)
        to_activeq = as_expr(sub_queue) == SubQueue.ACTIVE
        with when(to_activeq):
            entered = super().entering(pod, sub_queue, copy)
        return select(to_activeq, entered, as_expr(sub_queue))

    def leaving_backoff(self, pod: Pod) -> Value:
        if not self.async_preemption.is_there():
            return super().leaving_backoff(pod)
        return self.entering(pod, SubQueue.ACTIVE, self.copy[pod])

    is_past_pre_enqueue = no
    is_popped_early = never


_PLUGIN_EVENTS = "an event moves a parked pod only if a plugin that rejected the pod asked for it"


@before(
    "plugins-register",
    "each plugin registers the events that can make pods schedulable that it rejected",
    first_in="1.22",
)
class MostPluginsHearAll(PriorityQueue):
    """Only NodeResourcesFit said what it waits for; a pod that any other plugin had rejected was moved by every event (1.21)."""

    def matches(self, pod: Pod, event: ClusterEvent, about: About = None, form: Pod | None = None) -> Expr:
        others = [p for p in self.universe[Plugin] if p.name != "NodeResourcesFit"]
        return super().matches(pod, event, about, form) | any_of(self.rejected_by[pod][p] for p in others)


@before("plugin-events", _PLUGIN_EVENTS, first_in="1.21")
class MovesWithoutPlugins(PriorityQueue):
    """Nobody knew which plugins had rejected a pod, so that every event moved every parked pod."""

    def record_rejection(self, pod: Pod, plugins: Mapping[Plugin, Value]) -> None:
        """Not kept."""

    is_woken_by = always


@before("plugin-events", _PLUGIN_EVENTS, first_in="1.21")
class CycleWithoutDiagnosis(Scheduler):
    """The scheduling cycle did not note who rejected the pod."""

    def diagnose(self, pod: Pod, node: Node) -> None:
        """Not noted."""


_FIFO = "pods wait in a priority queue, and may preempt (PodPriority, which the model has on from 1.9)"


@before("55109", _FIFO, first_in="1.9", gate="PodPriority", gated_in="1.9")
class FirstInFirstOut(PriorityQueue):
    """One FIFO: a failed pod came back to its end after a backoff, and events moved nothing."""

    def precedes(self, a: Pod, b: Pod) -> Expr:
        return self.clock.is_older(a, b)

    is_retried = always

    def backoff_sub_queue(self) -> SubQueue:
        return SubQueue.ACTIVE


@before("55109", _FIFO, first_in="1.9", gate="PodPriority", gated_in="1.9")
class WithoutPreemption(Scheduler):
    """Without PodPriority nobody preempts."""

    def phase_after_fit_error(self) -> Phase:
        return Phase.FAIL

    def after_failure(self) -> None:
        self.end()


@before(
    "scheduling-gates",
    "a pod with scheduling gates is not tried until they are removed (PodSchedulingReadiness)",
    first_in="1.27",
    gate="PodSchedulingReadiness",
)
class GatesDropped(APIServer):
    """The API server dropped the field of a new pod (it was alpha in 1.26, and off)."""

    has_gates = no
