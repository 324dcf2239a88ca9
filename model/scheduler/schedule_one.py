"""The scheduling cycle: what one goroutine does with one pod at a time (scheduleOnePod in schedule_one.go, 1.36).

Each step is one locked call, one API call, or one read of a lister, together with the goroutine's own computation around it.
What a step computes is asked of the parts that know it: the filters, the scores, the preemption, the snapshot, the queue.
A cycle takes a pod from activeQ, takes a snapshot, and filters the nodes one by one. Where the pod fits, it is assumed on a node,
and its binding cycle starts. Where it fits nowhere, preemption follows (PostFilter, 1.19; sched.preempt before), and then the
failure handler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..environment.faults import Fault
from ..environment.objects import ExtensionPoint, Node, Pod, PodCopy, PodObject
from ..environment.pod_versions import forms, in_form
from ..language import (
    SOMETHING,
    Component,
    Expr,
    Fact,
    Knowledge,
    Sentence,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    changes,
    enum,
    otherwise,
    per,
    record,
    ref,
    require,
    select,
    step,
    tells,
    when,
    words,
)
from .eviction_words import eviction
from .failure import FailedAttempt, FailurePhase
from .framework.events import DYNAMIC_RESOURCES, EXTENDER, PERMIT_PLUGIN, VOLUME_BINDING, Plugin
from .framework.interface import ClaimPlugin, CyclePlugin, GangPlugin, GroupCycles, VolumePlugin
from .framework.rejections import reasons
from .framework.status import Code, NodeStatus, Phase
from .framework.waiting_pods import PermitAnswer

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
    from .framework.waiting_pods import WaitingPods
    from .preemption.async_preemption import AsyncPreemption
    from .preemption.evaluator import Preemption
    from .queue.nominator import Nominator
    from .queue.scheduling_queue import PriorityQueue


FILTERED = (
    Sentence(
        "All nodes are tried for {pod}, {node} last, and the attempt ends in an error: there is no node {after} to be found.",
        changes("scheduler.missing", after=SOMETHING),
    ),
    Sentence(
        "All nodes are tried for {pod}, {node} last, and the attempt ends in an error.",
        changes("scheduler.error", after=True),
    ),
    Sentence(
        "The filters pass: {pod} fits on {node}.", changes("scheduler.verdict", after=NodeStatus.FEASIBLE)
    ),
    Sentence(
        "The filters fail: {pod} does not fit on {node}{why}.",
        changes("scheduler.verdict", after=NodeStatus.REJECTED),
    ),
    Sentence(
        "The filters fail: {pod} can never fit on {node}, whoever is evicted{why}.",
        changes("scheduler.verdict", after=NodeStatus.UNRESOLVABLE),
    ),
    Sentence("The filters are run for {pod} on {node}."),
)


class Scheduler(Component):
    """The scheduling goroutine: what it knows between two steps, and the steps (`schedulingCycle`).

    `phase` is the next thing that it does. `pod` is the pod of this cycle and `copy` its object as the queue had it.
    `verdict` is the status of each node, `host` is the node that was chosen. `nominee` is the node that preemption
    chose; `withdraws` says that preemption found none, for good. `error`: the attempt ended in an error rather than in "does
    not fit". `scheduler_error`: the condition's reason is to be SchedulerError. `missing` is the node that the error says does
    not exist. `rejected_by` is the fit error's diagnosis: the plugins for which some node was no choice.

    A pod for which no plugin has work at an extension point passes it within the step before.
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
    async_preemption: AsyncPreemption
    waiting: WaitingPods
    binding: Binding
    failure: FailureHandler
    dynamic_resources: ClaimPlugin
    volume_binding: VolumePlugin
    gang_scheduling: GangPlugin
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

    phrases = words(
        {
            "verdict": Words("{pod} {after} {0}"),
            "nominee": Words("decision: {pod} is to go to {after}", decisive=True),
            "error": Words("the attempt to schedule {pod} ends in an error", decisive=True),
        }
    )
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
        return (self.phase == phase) & (self.pod == pod)

    def end(self) -> None:
        """scheduleOne returns; nothing of the cycle is kept."""
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

    def turn_to(self, pod: Pod, copy: PodCopy) -> None:
        """The cycle of a group turns to its next member."""
        self._forget_attempt()
        self.pod = pod
        self.copy = copy

    # --- next pod ------------------------------------------------------------------------------------

    @step(actor="scheduler")
    @tells("The scheduler takes {pod} from the head of activeQ.")
    def pop(self, pod: Pod) -> None:
        """NextPod: take the head of activeQ."""
        require(self.phase == Phase.IDLE)
        discarded = self.queue.discards(pod)
        self._begin(pod, discarded, self.queue.pop(pod))

    @step(actor="scheduler")
    @tells(
        "Parked pods are still being moved when the scheduler takes {pod}: others may follow that come before it, and the event is recorded only now."
    )
    def pop_amid_move(self, pod: Pod) -> None:
        """NextPod, which waits for activeQ's lock only: the move that brought the pod is not over."""
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
        """Whether the cycle pops before it calls anything that takes the queue's lock, if nothing fails: filters and requeues do."""
        on_the_way = (Phase.IDLE, Phase.SELECT, Phase.ASSUMED, Phase.RESERVE, Phase.PERMIT)
        skipping = any_of(self.at(Phase.POPPED, p) & self.skips(p) for p in self.universe[Pod])
        writing = any_of(
            self.at(Phase.FAILING, p) & (self.failure.phase[p] == FailurePhase.PATCH)
            for p in self.universe[Pod]
        )
        going = any_of(self.phase == phase for phase in on_the_way) | skipping | writing
        return going & ~self.pod_group_cycle.runs()

    def skips(self, pod: Pod) -> Expr:
        """skipPodSchedule: the pod is being deleted, or is assumed."""
        return self.copy.terminating | self.cache.is_assumed(pod)

    @step(actor="scheduler")
    @tells("The scheduler leaves {pod} alone: it needs no scheduling any more.")
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
    @tells("The scheduler takes its snapshot of the cache. The rest of the cycle for {pod} relies on it.")
    def take_snapshot(self, pod: Pod) -> None:
        """UpdateSnapshot: this cycle works on the cache as it is now."""
        require(self.ready_for_snapshot(pod))
        inconsistent = self.snapshot.update()
        self.phase = self.first_filtering()
        self.dynamic_resources.begin(pod)
        self.volume_binding.begin(pod)
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
    @tells(*FILTERED)
    def filter_nominated(self, pod: Pod, node: Node) -> None:
        """Run the filters for the nominated node alone; if it passes it wins, if not all nodes are tried."""
        require(self.at(Phase.FILTERING_NOMINATED, pod) & (self.copy.nominated == node))
        with when(self._filtered(pod, node) == NodeStatus.FEASIBLE):
            self.verdict[node] = NodeStatus.FEASIBLE
            self.phase = Phase.SELECT
        with otherwise():
            self.phase = Phase.FILTERING

    @step(actor="scheduler")
    @tells(*FILTERED)
    def filter(self, pod: Pod, node: Node) -> None:
        """Run the filters for one node, twice if pods are nominated to it (the nominator is read now)."""
        require(self.at(Phase.FILTERING, pod))
        require(self.snapshot.listed[node] & (self.verdict[node] == NodeStatus.UNTRIED))
        self.verdict[node] = self._filtered(pod, node)
        with when(self.no_node_is(NodeStatus.UNTRIED)):
            self._conclude_filtering(pod)

    def cycle_plugins(self, pod: Pod) -> dict[str, CyclePlugin]:
        """The plugins that filter by what the pod's claims are, where it has some."""
        return {
            **({DYNAMIC_RESOURCES: self.dynamic_resources} if pod.claims else {}),
            **({VOLUME_BINDING: self.volume_binding} if pod.volumes else {}),
        }

    def _filtered(self, pod: Pod, node: Node) -> Expr:
        self.diagnose(pod, node)
        placement, number = self.snapshot.placement(), self.copy.version

        def said(form: Pod) -> Expr:
            return placement.ask(node, partial(self.filters.run_with_nominated, form))

        code = in_form(self.universe, pod, number, said)
        for name, asked in self.cycle_plugins(pod).items():
            passes = asked.passes(pod, node)
            reached = (code == Code.SUCCESS) & self.snapshot.live[node]
            asked.note_filtered(pod, node, reached)
            for plugin in self.universe[Plugin]:
                if plugin.name == name:
                    with when(reached & ~passes):
                        self.rejected_by[plugin] = True
            code = select((code == Code.SUCCESS) & ~passes, Code.UNRESOLVABLE, code)
        if pod.extender_selector:
            passes = placement.ask(node, lambda content, _: as_expr(pod.passes_extender(content)))
            rejects = (code == Code.SUCCESS) & ~passes
            with when(rejects & self.snapshot.live[node]):
                self.note_extender()
            code = select(rejects, Code.UNSCHEDULABLE, code)
        return select(self.snapshot.live[node], self.verdict_of(code), NodeStatus.REJECTED)

    def note_extender(self) -> None:
        """findNodesThatPassExtenders has rejected a node: what an extender looks at nobody knows, so that any event may help (122022)."""
        for plugin in self.universe[Plugin]:
            if plugin.name == EXTENDER:
                self.rejected_by[plugin] = True

    def explains(self, step: str, args: Mapping[str, Any]) -> Mapping[str, Value]:
        if step not in ("filter", "filter_nominated"):
            return super().explains(step, args)
        pod, node = args["pod"], args["node"]
        why: dict[str, Expr] = {}
        for is_form, form in forms(self.universe, pod, self.copy.version):
            for shown, content, seen in self.snapshot.placement().versions(node):
                for text, given in reasons(self.filters, form, content, seen).items():
                    why[text] = why.get(text, as_expr(False)) | (is_form & shown & given)
        return {text: self.snapshot.live[node] & given for text, given in why.items()}

    def verdict_of(self, code: Value) -> Expr:
        """What the cycle keeps of the filters' answer."""
        answer = as_expr(code)
        rejected = select(answer == Code.UNRESOLVABLE, NodeStatus.UNRESOLVABLE, NodeStatus.REJECTED)
        return select(answer == Code.SUCCESS, NodeStatus.FEASIBLE, rejected)

    def diagnose(self, pod: Pod, node: Node) -> None:
        """Diagnosis.UnschedulablePlugins: note the filter that rejects the pod on this node, if one does."""
        for is_form, form in forms(self.universe, pod, self.copy.version):
            for shown, content, seen in self.snapshot.placement().versions(node):
                rejecting = self.filters.rejected_by_with_nominated(form, content, seen)
                for plugin in self.universe[Plugin]:
                    if plugin.name in rejecting:
                        with when(is_form & shown & rejecting[plugin.name] & self.snapshot.live[node]):
                            self.rejected_by[plugin] = True

    def no_node_is(self, status: NodeStatus) -> Expr:
        """Whether no node of the cycle's list has this status."""
        return all_of(~self.snapshot.listed[n] | (self.verdict[n] != status) for n in self.universe[Node])

    def _conclude_filtering(self, pod: Pod) -> None:
        none = self.no_node_is(NodeStatus.FEASIBLE)
        error = self.filters.scheduling_error(pod, ~none)
        with when(error):
            self.error = True
            self.missing = self.filters.missing_node(pod)
            self.phase = Phase.FAIL
        with otherwise(none):
            self.phase = self.phase_after_fit_error()
            self.dynamic_resources.post_filter(pod)
        with otherwise():
            self.phase = Phase.SELECT

    def phase_after_fit_error(self) -> Phase:
        """What follows when the pod fits no node: preemption, and the failure handler after it."""
        return Phase.REREAD_PREEMPTOR

    # --- host, Reserve, Permit, the start of the binding cycle -----------------------------------------------

    def extension_points(self, pod: Pod) -> Iterable[ExtensionPoint]:
        """Where plugins have work to do for the pod."""
        return pod.extension_points | self.gang_scheduling.points(pod)

    def cycle_points(self, pod: Pod) -> tuple[ExtensionPoint, ...]:
        """Those that the scheduling cycle passes once the pod is assumed, in their order."""
        passed = (ExtensionPoint.RESERVE, ExtensionPoint.PERMIT)
        return tuple(point for point in passed if point in self.extension_points(pod))

    def require_winner(self, pod: Pod, node: Node) -> None:
        """selectHost: the node is feasible, and no other scores better where scores decide."""
        require(self.at(Phase.SELECT, pod))
        feasible = {n: self.verdict[n] == NodeStatus.FEASIBLE for n in self.universe[Node]}
        require(feasible[node] & self.scores.wins(pod, node, feasible))

    def require_host(self, pod: Pod, node: Node) -> None:
        """The pod is to be assumed on this node now."""
        self.require_winner(pod, node)

    @step(actor="scheduler", random=True)
    @tells(
        Sentence(
            "The scheduler assumes {pod} on {node}: in its cache the pod is there already.",
            changes("cache.pod.assumed", after=True),
        ),
        Sentence(
            "The scheduler places {pod} on {node} in the snapshot: the other pods of the group see it there.",
            changes("snapshot.pod.node", after=SOMETHING),
        ),
        "The scheduler tries to assume {pod} on {node}, and the cache refuses.",
    )
    def assume(self, pod: Pod, node: Node) -> None:
        """AssumePod on one of the feasible nodes (each may win, unless scores decide)."""
        self.require_host(pod, node)
        member = self.pod_group_cycle.member(pod)
        if member is not None:
            self.pod_group_cycle.place(member, node)
            return
        refused = self.cache.assume(pod, node, self.copy)
        with when(refused):
            self.scheduler_error = True
            self.phase = Phase.FAIL
        with otherwise():
            self.host = node
            self.phase = Phase.ASSUMED

    @step(actor="scheduler")
    @tells(
        Sentence(
            "The scheduler starts a binding goroutine for {pod} and goes on.",
            changes("binding.phase", after=SOMETHING),
        ),
        "The scheduler goes on with {pod}: Reserve or Permit plugins are asked before its binding goroutine starts.",
    )
    def start_binding(self, pod: Pod) -> None:
        """The assumed pod needs no nomination any more; its binding cycle starts, if no plugin has work before it."""
        require(self.at(Phase.ASSUMED, pod))
        self.nominator.delete(pod)
        self._go_on(pod, self.cycle_points(pod))

    def _go_on(self, pod: Pod, left: Sequence[ExtensionPoint]) -> None:
        if left:
            self.phase = _PHASES[left[0]]
        else:
            self.binding.start(pod, self.host, self.copy)
            self._started(pod)

    def _started(self, pod: Pod) -> None:
        if self.pod_group_cycle.member(pod) is None:
            self.end()
        else:
            self.pod_group_cycle.go_on(pod)

    def permitted(self, pod: Pod) -> None:
        """GangScheduling has answered about the pod, which goes on to its binding cycle."""
        self._go_on(pod, ())

    def reserve_failed(self, pod: Pod) -> None:
        """A plugin could not reserve: the assumed pod is forgotten."""
        self.scheduler_error = True
        self.phase = Phase.FORGET

    @step(actor="scheduler")
    @tells("The Reserve plugins run for {pod}.")
    def reserve(self, pod: Pod, ok: bool) -> None:
        """The Reserve plugins; an error of one, and the assumed pod is forgotten."""
        points = self.cycle_points(pod)
        if ExtensionPoint.RESERVE not in points:
            require(False)
            return
        require(self.at(Phase.RESERVE, pod) & self.dynamic_resources.is_reserved(pod))
        require(self.volume_binding.is_reserved(pod))
        member = self.pod_group_cycle.member(pod)
        if member is not None and pod.claims:
            tries = self.pod_group_cycle.tries(pod)
            if not ok:
                require(~tries)
            with when(tries):
                self.pod_group_cycle.reserved(member)
            with otherwise():
                self._reserve(pod, points, ok=ok)
        else:
            self._reserve(pod, points, ok=ok)

    def _reserve(self, pod: Pod, points: tuple[ExtensionPoint, ...], *, ok: bool) -> None:
        if ok:
            failed = self.gang_scheduling.reserve(pod)
            with when(failed):
                self.reserve_failed(pod)
            with otherwise():
                self._go_on(pod, points[points.index(ExtensionPoint.RESERVE) + 1 :])
        else:
            self.faults.spend(Fault.PLUGIN_ERROR)
            self.reserve_failed(pod)

    @step(actor="scheduler")
    @tells("The Permit plugins answer about {pod}: {answer}.")
    def permit(self, pod: Pod, answer: PermitAnswer) -> None:
        """The Permit plugins; a pod that is to wait does so in its binding cycle."""
        if ExtensionPoint.PERMIT not in self.cycle_points(pod) or self.gang_scheduling.gang(pod) is not None:
            require(False)
            return
        require(self.at(Phase.PERMIT, pod))
        if answer is PermitAnswer.REJECT:
            self.faults.spend(Fault.PERMIT_REJECTION)
            self.phase = Phase.FORGET
            return
        if answer is PermitAnswer.WAIT:
            self.waiting.add(pod)
        self._go_on(pod, ())

    @step(actor="scheduler")
    @tells("The scheduler forgets {pod}: the cache has it on no node any more.")
    def forget(self, pod: Pod) -> None:
        """ForgetPod, after a plugin's error or rejection: nobody is woken."""
        if not self.cycle_points(pod):
            require(False)
        require(self.at(Phase.FORGET, pod) & self.dynamic_resources.is_unreserved(pod))
        require(self.volume_binding.is_unreserved(pod) & self.gang_scheduling.is_unreserved(pod))
        self.cache.forget(pod, self.host)
        self.phase = Phase.FAIL

    # --- PostFilter ------------------------------------------------------------------------------------------

    def read_preemptor(self, pod: Pod) -> PodObject:
        """The preemptor is read again, from the lister; the dry runs are made with this object."""
        current: PodObject = self.pod_watch.lister[pod]
        return current

    def bound_elsewhere(self, current: PodObject) -> None:
        """A preemptor that somebody has bound meanwhile fits on no other node, whoever is evicted (plugin NodeName)."""
        for node in self.universe[Node]:
            elsewhere = current.exists & as_expr(current.node).is_some & (current.node != node)
            with when(elsewhere & (self.verdict[node] == NodeStatus.REJECTED)):
                self.verdict[node] = NodeStatus.NO_CANDIDATE

    @step(actor="scheduler")
    @tells(
        Sentence(
            "Preemption for {pod} begins: the scheduler reads the pod again, and it may preempt.",
            changes("scheduler.phase", after=SOMETHING),
        ),
        "Preemption for {pod} begins, and ends at once: the pod is gone, or may not preempt.",
    )
    def reread_preemptor(self, pod: Pod) -> None:
        """PostFilter begins: read the preemptor again and see whether it may preempt."""
        require(self.at(Phase.REREAD_PREEMPTOR, pod))
        current = self.read_preemptor(pod)
        self.bound_elsewhere(current)
        self.begin_preemption(pod, current.exists, current.nominated)

    def begin_preemption(self, pod: Pod, exists: Value, nominated: Value) -> None:
        """Whether the pod may preempt, and whether that could help on some node of the snapshot."""
        helpful = self.preemption.might_help_somewhere()
        may = as_expr(exists) & self.preemption.eligible(pod, nominated)
        with when(may & helpful & ~self.no_node_is(NodeStatus.REJECTED)):
            self.phase = Phase.DRY_RUN
            self.preemption.budgets.read()
        with otherwise(may & helpful):
            self.no_candidate()
        with otherwise(may):
            self.hopeless(nominated)
        with otherwise():
            self._after_preemption()

    def hopeless(self, nominated: Value) -> None:
        """No eviction on any node would help."""
        self.no_candidate()

    def no_candidate(self) -> None:
        """Preemption ends without a candidate: the preemptor is not nominated any more."""
        self.withdraws = True
        self._after_preemption()

    @step(actor="scheduler")
    @tells(
        Sentence(
            "Preemption could make room for {pod} on {node} by evicting {0}.",
            changes("preemption.victim", after=True),
        ),
        Sentence(
            "Preemption could make {pod} fit on {node}, and would evict nobody.",
            changes("scheduler.verdict", after=NodeStatus.CANDIDATE),
        ),
        "Preemption on {node} would not help {pod}.",
    )
    def dry_run(self, pod: Pod, node: Node) -> None:
        """Find the victims whose eviction would make room on one node (the nominator is read now)."""
        require(self.at(Phase.DRY_RUN, pod))
        require((self.verdict[node] == NodeStatus.REJECTED) & ~self.preemption.has_enough(pod))
        candidate, victims = self.preemption.candidate(pod, node)
        if pod.volumes:
            candidate = candidate & self.volume_binding.passes(pod, node)
        self.verdict[node] = select(candidate, NodeStatus.CANDIDATE, NodeStatus.NO_CANDIDATE)
        for q, is_victim in victims.items():
            with when(candidate & is_victim):
                self.preemption.victim[q] = True
        with when(self.no_node_is(NodeStatus.REJECTED) & self.no_node_is(NodeStatus.CANDIDATE)):
            self.no_candidate()

    @step(actor="scheduler", random=True)
    @tells("Preemption decides: {pod} is to go to {node}.")
    def choose_candidate(self, pod: Pod, node: Node) -> None:
        """Choose the node where preemption costs least; from here on the pod is meant to go there."""
        searched = self.no_node_is(NodeStatus.REJECTED) | self.preemption.has_enough(pod)
        require(self.at(Phase.DRY_RUN, pod) & searched)
        require(self.preemption.may_be_chosen(pod, node))
        self.preemption.commit(pod, node)
        self.nominee = node
        self.after_choice(pod, node)

    def after_choice(self, pod: Pod, node: Node) -> None:
        """What follows the choice: a goroutine evicts the victims (the failure handler records the nomination)."""
        victims = {q: self.to_be_evicted(q) for q in self.universe[Pod] if q is not pod}
        self.async_preemption.start(pod, node, victims, self.preemption.last_of(pod, victims))
        self._after_preemption()

    def to_be_evicted(self, victim: Pod) -> Expr:
        """Of the victims, those that were not terminating already when the snapshot was taken."""
        return self.preemption.victim[victim] & ~as_expr(self.snapshot.pod[victim].terminating)

    def preempts_in_cycle(self) -> bool:
        """Whether the scheduling cycle itself evicts the victims, one step after the other."""
        return False

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
    @tells(*eviction("it counts as deleted"))
    def evict(self, pod: Pod, victim: Pod, ok: bool) -> None:
        """DELETE one victim at the API server; an error ends the preemption."""
        if pod is victim or not self.preempts_in_cycle():
            require(False)
            return
        require(self.at(Phase.EVICT, pod) & self.preemption.is_next_victim(pod, victim))
        self.require_deletion(victim)
        if not ok:
            self.faults.spend(Fault.WRITE_FAILURE)
            self.eviction_failed()
            return
        with when(self.api.finds(victim)):
            self.api.evict_pod(victim)
            self.victim_deleted(victim)
        with otherwise():
            self.victim_was_gone(victim)

    def victim_was_gone(self, victim: Pod) -> None:
        """What follows if the API server does not know the victim: as good as deleted."""
        self.done_with(victim)

    def require_deletion(self, victim: Pod) -> None:
        """A victim that can be stopped in memory is not deleted."""
        require(~self.async_preemption.is_stoppable(victim))

    def victim_deleted(self, victim: Pod) -> None:
        """What follows the deletion: the next victim."""
        self.done_with(victim)

    def done_with(self, victim: Pod) -> None:
        """One victim less."""
        self.preemption.victim[victim] = False
        self.advance_preemption()

    @step(actor="scheduler")
    @tells("The scheduler rejects the victim {victim}, if it waits for permission.")
    def reject_waiting(self, pod: Pod, victim: Pod) -> None:
        """A victim that can be stopped in memory is; up to 1.35 that is lost on a waiting one that was allowed just now."""
        if pod is victim or not self.rejects_in_cycle(victim):
            require(False)
            return
        require(self.at(Phase.EVICT, pod) & self.preemption.is_next_victim(pod, victim))
        require(self.async_preemption.is_stoppable(victim))
        self.async_preemption.stop(victim)
        self.done_with(victim)

    def rejects_in_cycle(self, victim: Pod) -> bool:
        """Whether the scheduling cycle itself may have to stop this victim."""
        stoppable = {ExtensionPoint.PERMIT, ExtensionPoint.PRE_BIND}
        return self.preempts_in_cycle() and not stoppable.isdisjoint(self.extension_points(victim))

    def eviction_failed(self) -> None:
        """PostFilter returns an error: no node is nominated."""
        self.nominee = None
        self.preemption.clear()
        self._after_preemption()

    @step(actor="scheduler")
    @tells(
        "The scheduler withdraws, at the API server, the nomination of {other}, which has a lower priority."
    )
    def clear_lower_nomination(self, pod: Pod, other: Pod) -> None:
        """Withdraw, at the API server, the nomination of a lower-priority pod to the chosen node."""
        if pod is other or not self.preempts_in_cycle():
            require(False)
        require(self.at(Phase.CLEAR_NOMINATIONS, pod) & self.preemption.to_clear[other])
        self.api.clear_nomination(other)
        self.preemption.to_clear[other] = False
        self.advance_preemption()

    @step(actor="scheduler")
    @tells(
        "The scheduler tries to withdraw the nomination of {other} at the API server, and the write fails."
    )
    def fail_to_clear_nomination(self, pod: Pod, other: Pod) -> None:
        """The write fails, which is logged: the nomination stays."""
        if pod is other or not (self.preempts_in_cycle() and self.scope.status_failures):
            require(False)
            return
        require(self.at(Phase.CLEAR_NOMINATIONS, pod) & self.preemption.to_clear[other])
        self.faults.spend(Fault.STATUS_FAILURE)
        self.preemption.to_clear[other] = False
        self.advance_preemption()

    def _after_preemption(self) -> None:
        self.preemption.clear()
        self.after_preemption()

    def after_preemption(self) -> None:
        """What follows preemption, whatever its outcome."""
        self.phase = Phase.FAIL

    # --- failure ---------------------------------------------------------------------------------------------

    @step(actor="scheduler")
    @tells("The attempt to schedule {pod} has failed; the failure handler takes over.")
    def fail(self, pod: Pod) -> None:
        """The attempt failed: the failure handler takes over (handleSchedulingFailure)."""
        require(self.at(Phase.FAIL, pod))
        member = self.pod_group_cycle.member(pod)
        if member is None:
            self._hand_over(pod)
        else:
            # A member whose place is submitted has failed to be assumed; else it has fitted nowhere.
            with when(self.scheduler_error):
                self._hand_over(pod)
            with otherwise():
                self.pod_group_cycle.attempted(member)

    def _hand_over(self, pod: Pod) -> None:
        with when(self.is_fit_error()):
            plugins = self.universe[Plugin]
            self.queue.record_rejection(pod, {p: self.rejected_by[p] for p in plugins})
        if ExtensionPoint.PERMIT in self.cycle_points(pod):
            with when(as_expr(self.host).is_some & ~self.scheduler_error):
                self.record_refusal(pod)
        self.failure.begin(
            pod,
            FailedAttempt(
                self.copy,
                self.nominee_to_record(),
                withdraws=self.withdraws | ~self.is_fit_error(),
                unschedulable=~self.scheduler_error,
                missing=self.missing,
            ),
        )
        self.dynamic_resources.clear(pod)
        self.volume_binding.clear(pod)
        self.volume_binding.unlist(pod)
        self.gang_scheduling.clear(pod)
        self.phase = Phase.FAILING

    def record_refusal(self, pod: Pod) -> None:
        """A rejection by a Permit plugin is a FitError as well, which names that plugin alone."""
        self.queue.record_rejection(pod, self.queue.only(PERMIT_PLUGIN))

    def is_fit_error(self) -> Expr:
        """Whether the attempt failed because the pod fits no node."""
        return self.no_node_is(NodeStatus.FEASIBLE) & ~self.error

    def nominee_to_record(self) -> Value:
        """The nomination that the failure handler is to record."""
        nominee: Expr = self.nominee
        return nominee

    def failure_handled(self, pod: Pod) -> None:
        """The failure handler is through; if it worked for this cycle, the cycle goes on."""
        with when(self.at(Phase.FAILING, pod)):
            if self.pod_group_cycle.member(pod) is None:
                self.after_failure()
            else:
                self.pod_group_cycle.go_on(pod)

    def after_failure(self) -> None:
        """What follows the failure handler: nothing."""
        self.end()

    # --- for properties --------------------------------------------------------------------------------

    def in_flight(self, pod: Pod) -> Expr:
        """Whether the scheduling cycle holds the pod."""
        return (self.pod == pod) | self.pod_group_cycle.holds(pod)

    def decided(self, pod: Pod, node: Value) -> Expr:
        """Whether this cycle has decided that `pod` is to go to `node` after preemption."""
        return (self.pod == pod) & (self.nominee == node)


_PHASES = {ExtensionPoint.RESERVE: Phase.RESERVE, ExtensionPoint.PERMIT: Phase.PERMIT}
