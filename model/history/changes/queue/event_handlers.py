"""The event handlers, and how scheduling began, as they were."""

from collections.abc import Mapping
from functools import partial

from ....environment.api import APIServer
from ....environment.cluster.footprint import UsedPort
from ....environment.cluster.node_versions import NodeVersion
from ....environment.cluster.pod_versions import PodChange, PodVersion, in_form
from ....environment.objects import Node, Pod, PodCopy, PodObject, Term
from ....environment.watch import Handler, NodeWatch, PodWatch
from ....language import (
    UNTOLD,
    Expr,
    Lasts,
    Value,
    any_of,
    as_expr,
    boolean,
    otherwise,
    per,
    require,
    step,
    tells,
    when,
)
from ....scheduler import Binding, EventHandlers, Hints, Process, Scheduler
from ....scheduler.cycles.binding import BindingPhase
from ....scheduler.event_handlers import Removal
from ....scheduler.framework.events import (
    DEFAULT_PREEMPTION,
    NODE_PORTS,
    NOMINATED_POD_GONE,
    WAITING_POD_GONE,
    About,
    Action,
    ClusterEvent,
    Plugin,
)
from ....scheduler.framework.filters import is_meant
from ....scheduler.framework.hints import ABOUT_ASSIGNED_PODS
from ....scheduler.framework.placement import Placement
from ....scheduler.queue.moves import Mover
from ....scheduler.queue.scheduling_queue import SubQueue
from ...registry.change import always, before, never, no, yes
from ...versions import PRE_RELEASES


@before(
    "70366",
    "a node update wakes parked pods only if something changed that they may wait for",
    first_in="1.14",
    backports=("1.12.4", "1.13.1"),
)
class EveryNodeUpdateWakes(EventHandlers):
    """Every update of a node woke every parked pod, also the kubelet's status update every few seconds (1.9 to 1.13)."""

    api: APIServer

    @step(actor="node handler", goroutine="status updates", each="node", lasts=Lasts.ANY_TIME)
    @tells("A status update of node {node} moves all parked pods.")
    def handle_heartbeat(self, node: Node) -> None:
        """A status update of a node that changes nothing else: all parked pods are moved."""
        require(self.api.node_exists[node])
        require(any_of(self.queue.sub_queue[pod] == SubQueue.UNSCHEDULABLE for pod in self.universe[Pod]))
        self.queue.move_all()


_DELETIONS_FIRST = "after an interruption of the watch, handlers are notified of deletions first"


@before("in-order-informers", _DELETIONS_FIRST, first_in="1.33")
class ListedFirst(PodWatch):
    """DeltaFIFO: what a list shows was told before what it does not show any more (client-go's InOrderInformers)."""

    deletions_first = no


@before("in-order-informers", _DELETIONS_FIRST, first_in="1.33")
class ListedNodesFirst(NodeWatch):
    """So it was of nodes."""

    deletions_first = no


_ASSUMED_UPDATES = "every update of an assumed pod is dropped"


def matters_not(assumed: PodCopy, shown: PodCopy) -> Expr:
    """Whether an assumed pod is shown as it is but for its conditions (skipPodUpdate, 1.19 to 1.21)."""
    return assumed.same_as(shown, but="failed")


@before("drop-assumed-updates", _ASSUMED_UPDATES, first_in="1.22")
class ChangedPodsTried(Scheduler):
    """A popped pod that was assumed already was skipped only if nothing that mattered had changed."""

    def skips(self, pod: Pod) -> Expr:
        unchanged = self.cache.is_assumed(pod) & matters_not(self.cache.copy[pod], self.copy)
        return self.copy.terminating | unchanged


@before("drop-assumed-updates", _ASSUMED_UPDATES, first_in="1.22")
class ComparedAssumedUpdates(EventHandlers):
    """skipPodUpdate: only an update that changed nothing that matters to the assumed copy was dropped."""

    def skips_update(self, pod: Pod, new: PodObject) -> Expr:
        return super().skips_update(pod, new) & matters_not(self.cache.copy[pod], new.copy())


_CONDITIONS = "a change of conditions alone does not matter to an assumed pod"
_SKIPPED_IN = ("1.16.11", "1.17.7", "1.18.4")


@before("91252", _CONDITIONS, first_in="1.19", issues=(91252,), backports=_SKIPPED_IN)
class TriedForAnotherCondition(Scheduler):
    """An assumed pod that came back to the queue with another condition was tried again, beside its binding cycle."""

    def skips(self, pod: Pod) -> Expr:
        same = self.copy.failed == self.cache.copy[pod].failed
        return super().skips(pod) & (self.copy.terminating | same)


@before("91252", _CONDITIONS, first_in="1.19", issues=(91252,), backports=_SKIPPED_IN)
class ConditionsQueueAssumedPods(EventHandlers):
    """The update that told of a condition, which a failed attempt had written, queued the pod although the next attempt had assumed it by then."""

    def skips_update(self, pod: Pod, new: PodObject) -> Expr:
        return super().skips_update(pod, new) & (self.cache.copy[pod].failed == new.failed)


_FORGOTTEN = "a pod that is forgotten, or rejected because it is gone, wakes parked pods like a deleted one"


@before("103805", _FORGOTTEN, first_in="1.23")
class ForgottenPodsWakeNobody(Binding):
    """A binding cycle that failed gave its room back, and no parked pod was moved."""

    def phase_after_forget(self, pod: Pod) -> Expr:
        return as_expr(BindingPhase.FAIL)


@before("103805", _FORGOTTEN, first_in="1.23")
class RejectionWakesNobody(EventHandlers):
    """The handler rejected the waiting pod, and did nothing else."""

    rejection_wakes = never


_ONE_HANDLER = "one handler receives all events of pods, and forgets an assumed pod that is deleted"


@before("134157", _ONE_HANDLER, first_in="1.35", issues=(134217,))
class TwoHandlers(PodWatch):
    """Unassigned and assigned pods had a handler each, on a goroutine of its own."""

    is_turn = always


@before("134157", _ONE_HANDLER, first_in="1.35", issues=(134217,))
class HandlersMoveApart(EventHandlers):
    """While one handler moved parked pods, the other could take its next event."""

    def goroutine_of(self, handler: Handler) -> Mover:
        return Mover.CACHE_HANDLER if handler is Handler.CACHE else super().goroutine_of(handler)


@before("134157", _ONE_HANDLER, first_in="1.35", issues=(134217,))
class AssumedPodsOutliveDeletion(EventHandlers):
    """A pod that was deleted, or bound, was rejected if it waited for permission; an assumed one stayed until its binding failed.

    What it had given back was told as the deletion of the object in the event, which is on no node but may have a nomination.
    """

    is_filtered = yes

    def sees_to_removal(self, pod: Pod, new: PodObject) -> Expr:
        return ~new.pending & self.rejects_waiting(pod)

    def first_of_removal(self) -> Removal:
        return Removal.REJECT

    def look_whether_assumed(self, pod: Pod) -> None:
        """Nobody looked."""
        require(False)

    def removal_after_reject(self) -> Removal:
        return Removal.NONE

    def forget_assumed(self, pod: Pod) -> None:
        """Nothing was forgotten."""
        require(False)

    sees_to_termination = never

    def wake_for_assumed(self, pod: Pod, old: PodObject) -> None:
        with when(as_expr(old.nominated).is_some):
            self.queue.move_all(NOMINATED_POD_GONE, about=pod, version=old.version)
        with otherwise():
            self.queue.move_all(WAITING_POD_GONE, about=pod, version=old.version)


@before("134157", _ONE_HANDLER, first_in="1.35", issues=(134217,))
class BoundNomineesWake(EventHandlers):
    """A binding was told to the queue's handler as a deletion, so that the pods that respected the bound pod's nomination were moved
    (deletePodFromSchedulingQueue, 1.33 and 1.34).
    """

    def nomination_wakes(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        return super().nomination_wakes(pod, old, new) | (as_expr(old.nominated).is_some & new.assigned)


_BY_HINTS = "the plugins' hints alone decide which parked pods an event moves"


@before("hints-decide", _BY_HINTS, first_in="1.32", gate="SchedulerQueueingHints", gated_in="1.32")
class AdmissionChecked(EventHandlers):
    """A new node woke only the parked pods that would pass its pre-check (preCheckForNode).

    An assigned pod woke those with a required affinity term for it (AssignedPodAdded, AssignedPodUpdated); one that had shrunk, where that
    could be (InPlacePodVerticalScaling), all whose plugins had asked for that. `admitted`
    says, while the node handler is between its two steps, which pods the new node would admit.
    """

    admitted = per(Pod, boolean())

    phrases = UNTOLD

    def wake_for_assigned(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        shrunk = as_expr(False)
        for changed, change in self.pod_updates.changes(pod, old, new):
            for kind in self.queue.kinds_of(change):
                if kind.event.action == Action.UPDATE_POD_SCALE_DOWN:
                    shrunk = shrunk | (old.assigned & changed)
                    with when(old.assigned & changed):
                        self.queue.move_all(kind.event, about=change)
        with when(~shrunk):
            self.queue.move_matching(pod, version=new.version)

    def end_of_node_event(self) -> None:
        super().end_of_node_event()
        for pod in self.universe[Pod]:
            self.admitted[pod] = False

    def check_admission(self, node: Node) -> None:
        nodes = self.universe[Node]
        cached = Placement(
            {pod: {n: self.cache.on(pod, n) for n in nodes} for pod in self.universe[Pod]},
            {n: self.cache.live[n] for n in nodes},
            shown={v: self.cache.node_version[v.node] == v for v in self.universe[NodeVersion]},
            held={v: self.cache.node_infos.version[v.pod] == v for v in self.universe[PodVersion]},
            ports={n: {p: self.cache.node_infos.port[n][p] for p in self.universe[UsedPort]} for n in nodes},
        )

        def said(form: Pod) -> Expr:
            return cached.ask(nodes[node.index], partial(self.filters.admits, form))

        for pod in self.universe[Pod]:
            self.admitted[pod] = in_form(self.universe, pod, self.queue.copy[pod].version, said)

    def admissible(self) -> Mapping[Pod, Value] | None:
        return {pod: self.admitted[pod] for pod in self.universe[Pod]}


@before("hints-decide", _BY_HINTS, first_in="1.32", gate="SchedulerQueueingHints", gated_in="1.32")
class HintsAlwaysQueue(Hints):
    """The plugins had no hints of their own: every event that one registered counted.

    As the pre-check may have hidden a new node, those that asked for new nodes asked for changed labels as well (1.32 and 1.33).
    """

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        relabelled = event.resource == "Node" and event.action == Action.UPDATE_NODE_LABEL
        if relabelled and plugin.name in (NODE_PORTS, "NodeResourcesFit"):
            return True
        return super().hears(plugin, event)

    def wakes(self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About) -> Expr:
        return as_expr(event.is_wildcard or self.hears(plugin, event))


@before(
    "preemption-events",
    "preemption registers no event for a pod that it rejected",
    first_in="1.32",
    after=("hints-decide",),
)
class PreemptionHearsAll(Hints):
    """DefaultPreemption did not say which events it asked for, which counts as all (defaultEnqueueExtension)."""

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        return plugin.asked_for(event) if plugin.name == DEFAULT_PREEMPTION else super().hears(plugin, event)


_LOST_NOMINATIONS = "a pod that loses its nomination wakes those that respected it"


@before("129058", _LOST_NOMINATIONS, first_in="1.33", issues=(126700,))
class LostNominationsWakeNobody(EventHandlers):
    """Room that was kept for a nominated pod became free, and no parked pod was moved."""

    nomination_wakes = never


@before("129058", _LOST_NOMINATIONS, first_in="1.33", issues=(126700,))
class FitIgnoresNominations(Hints):
    """To NodeResourcesFit and NodePorts a pod without a node had nothing that it could give back, nominated or not
    (isSchedulableAfterPodEvent, isSchedulableAfterPodDeleted).
    """

    def wakes(self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About) -> Expr:
        seen = WAITING_POD_GONE if event == NOMINATED_POD_GONE else event
        return super().wakes(plugin, pod, seen, about)


@before(
    "139161",
    "InterPodAffinity's hints, like its filter, need a pod to match only one anti-affinity term",
    first_in="1.37",
)
class AllTermsKeepOut(Hints):
    """A pod that came or went counted as kept out only by all anti-affinity terms together (podMatchesAllAffinityTerms, 1.32 to 1.36)."""

    def keeps_out(self, pod: Pod, other: Pod) -> bool:
        return self.matches_all(pod, other, anti=True)


@before(
    "namespace-labels-asked",
    "InterPodAffinity's hints use the labels of the other pod's namespace",
    first_in=PRE_RELEASES[0],
    issues=(141953,),
)
class NamespaceLabelsUnasked(Hints):
    """The hints were given terms that no namespaces were merged into, and held them against a pod without the labels of its namespace (up to 1.37)."""

    def means(self, term: Term, other: Pod) -> bool:
        return term.matches_by_name(other)


TARGETS = "an update of an unscheduled pod is a separate event, and hints do not check which pod was updated"
"""The title of 135905, which is in two files."""


@before("135905", TARGETS, first_in="1.37")
class HintsAskWhoseUpdate(Hints):
    """The hints compared the UIDs: the update of one pod in flight had no other one tried again (1.32 to 1.36)."""

    def is_target(self, pod: Pod, change: PodChange) -> bool:
        return change.new.uid == pod.uid

    def is_own_spread(self, plugin: Plugin, pod: Pod, about: About) -> bool:
        """involvedInTopologySpreading counted what happened to the pod itself, if its constraints meant it."""
        spreads = plugin.name == "PodTopologySpread" and isinstance(about, Pod) and about.uid == pod.uid
        return spreads and is_meant(pod, pod)


@before(
    "hints-see-nominations",
    "the plugins' hints treat a nominated pod as a pod that has a node",
    first_in="1.36",
)
class HintsIgnoreNominations(Hints):
    """InterPodAffinity and PodTopologySpread did not look at a pod without a node, nominated or not (1.32 to 1.35)."""

    def wakes(self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About) -> Expr:
        if event == NOMINATED_POD_GONE and plugin.name in ABOUT_ASSIGNED_PODS:
            return as_expr(self.is_own_spread(plugin, pod, about))
        return super().wakes(plugin, pod, event, about)


@before(
    "135325",
    "a deleted pod wakes those that its own anti-affinity excluded",
    first_in="1.36",
    issues=(134393,),
)
class OwnAntiAffinityOnly(Hints):
    """InterPodAffinity asked only whether the waiting pod's anti-affinity was against the deleted one (1.32 to 1.35)."""

    def after_pod(self, pod: Pod, other: Pod, event: ClusterEvent) -> Expr:
        return as_expr(self.matches_all(pod, other, anti=event.action == Action.DELETE))


@before("127464", "a removed node wakes the pods that its domain excluded", first_in="1.32", issues=(110175,))
class RemovedNodesWakeNobody(EventHandlers):
    """No plugin was told of a removed node, whatever it had registered."""

    def begin_removal(self, node: Node) -> None:
        self.remove_node_now(node)

    @step(actor="node handler")
    def remove_node(self, node: Node) -> None:
        """Nothing is left for a second step."""
        require(False)


@before("node-pre-check", "a new node wakes only the pods that it would admit", first_in="1.22")
class NodesWakeEverybody(EventHandlers):
    """A new node moved every parked pod."""

    def check_admission(self, node: Node) -> None:
        """Nothing was checked."""

    def admissible(self) -> Mapping[Pod, Value] | None:
        return None


@before(
    "116729",
    "scheduling begins when every handler has received the initial list",
    first_in="1.28",
    issues=(116717,),
)
class StoresSuffice(Process):
    """Scheduling began as soon as the informers' stores were filled: handlers might still have events to come."""

    waits_for_handlers = no
