"""The first part of a scheduling cycle: take a pod from activeQ and find the nodes that it fits (scheduleOne up to
the choice of a node, pkg/scheduler/scheduler.go, 1.22).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from .framework.events import Plugin
from .framework.status import Code, NodeVerdict, Phase

if TYPE_CHECKING:
    from ..environment.api import APIServer
    from ..environment.faults import Faults
    from ..environment.watch import PodWatch
    from .binding import Binding
    from .cache.scheduler_cache import Cache
    from .cache.snapshot import Snapshot
    from .failure import FailureHandler
    from .framework.filters import Filters
    from .framework.scores import Scores
    from .preemption.evaluator import Preemption
    from .queue.nominator import Nominator
    from .queue.scheduling_queue import PriorityQueue


class SchedulingAttempt(Component):
    """The scheduling goroutine.

    `pod` is the pod of this cycle and `copy` its object as the queue had it; `nominee` is the node that
    preemption chose, `withdraws` that it found none for good; `error` says that this attempt ended in an error rather than in "does not fit",
    `scheduler_error` that the condition's reason is to be SchedulerError. `missing` is the node that the
    error says does not exist. `rejected_by` is the fit error's diagnosis:
    the plugins for which some node was no choice.
    """

    api: APIServer
    pod_watch: PodWatch
    faults: Faults
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
    withdraws = boolean()
    error = boolean()
    scheduler_error = boolean()
    missing = ref(Node)
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
        self.withdraws = False
        self.error = False
        self.scheduler_error = False
        self.missing = None
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
        discarded = self.queue.discards(pod)
        copy = self.queue.pop(pod)
        with when(~discarded):
            self.pod = pod
            self.copy = copy
            self.phase = Phase.POPPED

    def skips(self, pod: Pod) -> Expr:
        """skipPodSchedule: the pod is being deleted, or is assumed."""
        return self.copy.terminating | self.cache.is_assumed(pod)

    @step(actor="scheduler")
    def skip(self, pod: Pod) -> None:
        """The popped pod needs no scheduling."""
        require(self.at(Phase.POPPED, pod))
        require(self.skips(pod))
        self.skipped(pod)
        self.end()

    def skipped(self, pod: Pod) -> None:
        """The pod is in flight no longer."""
        self.queue.done(pod)

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
            self.missing = self.filters.missing_node(pod)
            self.phase = Phase.FAIL
        with otherwise(none):
            self.phase = self.phase_after_fit_error()
        with otherwise():
            self.phase = Phase.SELECT

    def phase_after_fit_error(self) -> Phase:
        """What follows when the pod fits no node: preemption, and the failure handler after it."""
        return Phase.REREAD_PREEMPTOR
