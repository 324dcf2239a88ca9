"""The scheduling cycle: scheduleOne up to the start of the binding cycle (pkg/scheduler/scheduler.go, 1.19).

One goroutine, one pod at a time. `phase` is where it stands; each step is one locked call, one API call, or one
read of a lister, together with the goroutine's own computation around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.disturbances import Disturbance
from ..environment.objects import Node, Pod, PodCopy
from ..language import (
    Component,
    Expr,
    Value,
    all_of,
    any_of,
    as_expr,
    boolean,
    enum,
    otherwise,
    per,
    record,
    ref,
    require,
    select,
    step,
    when,
)
from .events import Plugin
from .verdicts import Code, NodeVerdict, Phase

if TYPE_CHECKING:
    from ..environment.api import APIServer
    from ..environment.disturbances import Disturbances
    from ..environment.watch import PodWatch
    from .binding import Binding
    from .cache import Cache
    from .failure import FailureHandler
    from .filters import Filters
    from .nominator import Nominator
    from .preemption import Preemption
    from .queue import PriorityQueue
    from .scores import Scores
    from .snapshot import Snapshot


class Scheduler(Component):
    """The scheduling goroutine.

    `pod` is the pod of this cycle and `copy` its object as the queue had it; `nominee` is the node that
    preemption chose; `error` says that this attempt ended in an error rather than in "does not fit". `rejected_by` is the fit error's diagnosis:
    the plugins for which some node was no choice.
    """

    api: APIServer
    pod_watch: PodWatch
    disturbances: Disturbances
    queue: PriorityQueue
    nominator: Nominator
    cache: Cache
    snapshot: Snapshot
    filters: Filters
    scores: Scores
    preemption: Preemption
    binding: Binding
    failure: FailureHandler

    phase = enum(Phase)
    pod = ref(Pod)
    copy = record(PodCopy)
    host = ref(Node)
    nominee = ref(Node)
    error = boolean()
    verdict = per(Node, enum(NodeVerdict))
    rejected_by = per(Plugin, boolean())

    def at(self, phase: Phase, pod: Pod) -> Expr:
        """Whether the goroutine is about to do `phase` for `pod`."""
        return (self.phase == phase) & (self.pod == pod)

    def end(self) -> None:
        """scheduleOne returns; nothing of the cycle is kept."""
        self.phase = Phase.IDLE
        self.pod = None
        self.copy = PodCopy()
        self.host = None
        self.nominee = None
        self.error = False
        for node in self.universe[Node]:
            self.verdict[node] = NodeVerdict.UNTRIED
        for plugin in self.universe[Plugin]:
            self.rejected_by[plugin] = False
        self.snapshot.clear()
        self.preemption.clear()

    # --- next pod ------------------------------------------------------------------------------------

    @step(actor="scheduler")
    def pop(self, pod: Pod) -> None:
        """NextPod: take the head of activeQ."""
        require(self.phase == Phase.IDLE)
        copy = self.queue.pop(pod)
        self.pod = pod
        self.copy = copy
        self.phase = Phase.POPPED

    def skips(self, pod: Pod) -> Expr:
        """skipPodSchedule: the pod is being deleted, or is assumed and unchanged since."""
        unchanged = self.cache.is_assumed(pod) & self.cache.copy[pod].same_as(self.copy)
        return self.copy.terminating | unchanged

    @step(actor="scheduler")
    def skip(self, pod: Pod) -> None:
        """The popped pod needs no scheduling."""
        require(self.at(Phase.POPPED, pod))
        require(self.skips(pod))
        self.end()

    # --- schedule ------------------------------------------------------------------------------------

    def ready_for_snapshot(self, pod: Pod) -> Expr:
        """Whether the next thing is to take the snapshot."""
        return self.at(Phase.POPPED, pod) & ~self.skips(pod)

    @step(actor="scheduler")
    def take_snapshot(self, pod: Pod) -> None:
        """UpdateSnapshot: this cycle works on the cache as it is now."""
        require(self.ready_for_snapshot(pod))
        inconsistent = self.snapshot.update()
        self.phase = self.first_filtering()
        with when(inconsistent | self.has_no_nodes()):
            self.error = True
            self.phase = Phase.FAIL

    def first_filtering(self) -> Expr:
        """A pod that is nominated to a node of the snapshot is tried there first (PreferNominatedNode)."""
        known = any_of((self.copy.nominated == n) & self.snapshot.listed[n] for n in self.universe[Node])
        return select(known, Phase.FILTERING_NOMINATED, Phase.FILTERING)

    def has_no_nodes(self) -> Expr:
        """ErrNoNodesAvailable: there is no node to try."""
        return all_of(~self.snapshot.listed[n] for n in self.universe[Node])

    @step(actor="scheduler")
    def filter_nominated(self, pod: Pod, node: Node) -> None:
        """Run the filters for the nominated node alone; if it passes it wins, if not all nodes are tried."""
        require(self.at(Phase.FILTERING_NOMINATED, pod) & (self.copy.nominated == node))
        with when(self._filtered(pod, node) == NodeVerdict.FEASIBLE):
            self.verdict[node] = NodeVerdict.FEASIBLE
            self.phase = Phase.SELECT
        with otherwise():
            self.phase = Phase.FILTERING

    @step(actor="scheduler")
    def filter(self, pod: Pod, node: Node) -> None:
        """Run the filters for one node, twice if pods are nominated to it (the nominator is read now)."""
        require(self.at(Phase.FILTERING, pod))
        require(self.snapshot.listed[node] & (self.verdict[node] == NodeVerdict.UNTRIED))
        self.verdict[node] = self._filtered(pod, node)
        with when(self.no_node_is(NodeVerdict.UNTRIED)):
            self._conclude_filtering(pod)

    def _filtered(self, pod: Pod, node: Node) -> Expr:
        self.diagnose(pod, node)
        code = self.filters.run_with_nominated(pod, node, self.snapshot.placement())
        return select(self.snapshot.live[node], self.verdict_of(code), NodeVerdict.REJECTED)

    def verdict_of(self, code: Value) -> Expr:
        """What the cycle keeps of the filters' answer."""
        answer = as_expr(code)
        rejected = select(answer == Code.UNRESOLVABLE, NodeVerdict.UNRESOLVABLE, NodeVerdict.REJECTED)
        return select(answer == Code.SUCCESS, NodeVerdict.FEASIBLE, rejected)

    def diagnose(self, pod: Pod, node: Node) -> None:
        """Diagnosis.UnschedulablePlugins: note the filter that rejects the pod on this node, if one does."""
        alone = self.snapshot.placement()
        awaited = {
            q: here
            | (self.nominator.nominated_to(q, node) & (q.priority >= pod.priority) & (q.uid != pod.uid))
            for q, here in alone.present(pod, node).items()
        }
        first = self.filters.rejected_by(pod, node, alone.with_present(node, awaited))
        second = self.filters.rejected_by(pod, node, alone)
        passed_first = ~any_of(first.values())
        for plugin in self.universe[Plugin]:
            if plugin.name in first:
                rejects = first[plugin.name] | (passed_first & second[plugin.name])
                with when(rejects & self.snapshot.live[node]):
                    self.rejected_by[plugin] = True

    def no_node_is(self, verdict: NodeVerdict) -> Expr:
        """Whether no node of the cycle's list has this verdict."""
        return all_of(~self.snapshot.listed[n] | (self.verdict[n] != verdict) for n in self.universe[Node])

    def _conclude_filtering(self, pod: Pod) -> None:
        none = self.no_node_is(NodeVerdict.FEASIBLE)
        error = self.filters.scheduling_error(pod, ~none)
        with when(error):
            self.error = True
            self.phase = Phase.FAIL
        with otherwise(none):
            self.phase = self.phase_after_fit_error()
        with otherwise():
            self.phase = Phase.SELECT

    def phase_after_fit_error(self) -> Phase:
        """What follows when the pod fits no node: preemption, and the failure handler after it."""
        return Phase.REREAD_PREEMPTOR

    @step(actor="scheduler", random=True)
    def assume(self, pod: Pod, node: Node) -> None:
        """AssumePod on one of the feasible nodes (each may win, unless scores decide)."""
        require(self.at(Phase.SELECT, pod))
        feasible = {n: self.verdict[n] == NodeVerdict.FEASIBLE for n in self.universe[Node]}
        require(feasible[node] & self.scores.wins(pod, node, feasible))
        refused = self.cache.assume(pod, node, self.copy)
        with when(refused):
            self.phase = Phase.FAIL
        with otherwise():
            self.host = node
            self.phase = Phase.ASSUMED

    @step(actor="scheduler")
    def start_binding(self, pod: Pod) -> None:
        """The assumed pod needs no nomination any more; its binding cycle starts."""
        require(self.at(Phase.ASSUMED, pod))
        self.nominator.delete(pod)
        self.binding.start(pod, self.host, self.copy)
        self.end()

    # --- preemption ----------------------------------------------------------------------------------

    def read_preemptor(self, pod: Pod) -> tuple[Expr, Expr]:
        """The preemptor is read again, from the lister: whether it exists, and its nomination."""
        current = self.pod_watch.lister[pod]
        return current.exists, current.nominated

    @step(actor="scheduler")
    def reread_preemptor(self, pod: Pod) -> None:
        """PostFilter begins: read the preemptor again and see whether it may preempt."""
        require(self.at(Phase.REREAD_PREEMPTOR, pod))
        exists, nominated = self.read_preemptor(pod)
        helpful = any_of(self.snapshot.listed[n] & self.preemption.might_help(n) for n in self.universe[Node])
        with when(exists & helpful & self.preemption.eligible(pod, nominated)):
            self.phase = Phase.DRY_RUN
        with otherwise():
            self._after_preemption()

    @step(actor="scheduler")
    def dry_run(self, pod: Pod, node: Node) -> None:
        """Find the victims whose eviction would make room on one node (the nominator is read now)."""
        require(self.at(Phase.DRY_RUN, pod))
        require((self.verdict[node] == NodeVerdict.REJECTED) & ~self.preemption.has_enough(pod))
        possible, victims = self.preemption.dry_run(pod, node)
        violates = any_of(self.preemption.violations(pod, victims, node).values())
        candidate = self.snapshot.live[node] & possible & self.preemption.has_room(pod, violates)
        self.verdict[node] = select(candidate, NodeVerdict.CANDIDATE, NodeVerdict.NO_CANDIDATE)
        for q, is_victim in victims.items():
            with when(candidate & is_victim):
                self.preemption.victim[q] = True
        with when(self.no_node_is(NodeVerdict.REJECTED) & self.no_node_is(NodeVerdict.CANDIDATE)):
            self._after_preemption()

    @step(actor="scheduler", random=True)
    def choose_candidate(self, pod: Pod, node: Node) -> None:
        """Choose the node where preemption costs least; from here on the pod is meant to go there."""
        searched = self.no_node_is(NodeVerdict.REJECTED) | self.preemption.has_enough(pod)
        require(self.at(Phase.DRY_RUN, pod) & searched)
        require(self.preemption.may_be_chosen(pod, node))
        self.preemption.commit(pod, node)
        self.nominee = node
        self.after_choice()

    def after_choice(self) -> None:
        """What follows the choice: the evictions (the failure handler records the nomination later)."""
        self.advance_preemption()

    def advance_preemption(self) -> None:
        """The next thing that preemption has left to do."""
        evicted, cleared = self.preemption.none_left("victim"), self.preemption.none_left("to_clear")
        with when(~evicted):
            self.phase = Phase.EVICT
        with otherwise(~cleared):
            self.phase = Phase.CLEAR_NOMINATIONS
        with otherwise():
            self._after_preemption()

    @step(actor="scheduler")
    def evict(self, pod: Pod, victim: Pod, ok: bool) -> None:
        """DELETE one victim at the API server; any error, also that it is gone, ends the preemption."""
        if pod is victim:
            require(False)
            return
        require(self.at(Phase.EVICT, pod) & self.preemption.is_next_victim(pod, victim))
        if not ok:
            self.disturbances.spend(Disturbance.WRITE_FAILURE)
            self.eviction_failed()
            return
        with when(self.api.pod[victim].exists):
            self.api.delete_pod(victim)
            self.preemption.victim[victim] = False
            self.advance_preemption()
        with otherwise():
            self.eviction_failed()

    def eviction_failed(self) -> None:
        """PostFilter returns an error: no node is nominated."""
        self.nominee = None
        self.preemption.clear()
        self._after_preemption()

    @step(actor="scheduler")
    def clear_lower_nomination(self, pod: Pod, other: Pod) -> None:
        """Withdraw, at the API server, the nomination of a lower-priority pod to the chosen node."""
        if pod is other:
            require(False)
        require(self.at(Phase.CLEAR_NOMINATIONS, pod) & self.preemption.to_clear[other])
        self.api.clear_nomination(other)
        self.preemption.to_clear[other] = False
        self.advance_preemption()

    def _after_preemption(self) -> None:
        self.preemption.clear()
        self.after_preemption()

    def after_preemption(self) -> None:
        """What follows preemption, whatever its outcome."""
        self.phase = Phase.FAIL

    # --- failure -------------------------------------------------------------------------------------

    @step(actor="scheduler")
    def fail(self, pod: Pod) -> None:
        """The attempt failed: the failure handler takes over (recordSchedulingFailure)."""
        require(self.at(Phase.FAIL, pod))
        with when(self.is_fit_error()):
            plugins = self.universe[Plugin]
            self.queue.record_rejection(pod, {p: self.rejected_by[p] for p in plugins})
        self.failure.begin(pod, self.copy, self.nominee_to_record(), unschedulable=True)
        self.phase = Phase.FAILING

    def is_fit_error(self) -> Expr:
        """Whether the attempt failed because the pod fits no node."""
        return self.no_node_is(NodeVerdict.FEASIBLE) & ~self.error

    def nominee_to_record(self) -> Value:
        """The nomination that the failure handler is to record."""
        nominee: Expr = self.nominee
        return nominee

    def failure_handled(self, pod: Pod) -> None:
        """The failure handler is through; if it worked for this cycle, the cycle goes on."""
        with when(self.at(Phase.FAILING, pod)):
            self.after_failure()

    def after_failure(self) -> None:
        """What follows the failure handler: nothing."""
        self.end()

    # --- for properties --------------------------------------------------------------------------------

    def in_flight(self, pod: Pod) -> Expr:
        """Whether the scheduling cycle holds the pod."""
        return self.pod == pod

    def decided(self, pod: Pod, node: Value) -> Expr:
        """Whether this cycle has decided that `pod` is to go to `node` after preemption."""
        return (self.pod == pod) & (self.nominee == node)
