"""Preemption of whole groups (framework/preemption/podgrouppreemption.go, executor.go and PodGroupPostFilter of DefaultPreemption, 1.38).

A trial that has failed asks it once. All pods of a lower priority leave the snapshot, and all members are tried again, on the nodes that cost least. If enough of them fit, the victims come back one by one, each if
all members with a place pass the filters still. One goroutine evicts those that are left, on all nodes; as long as it runs, PreEnqueue holds the entry of the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...environment.cluster.pod_versions import in_form
from ...environment.objects import Node, Pod, PodGroup
from ...environment.pod_groups import Member, PodGroups
from ...language import (
    SOMETHING,
    UNTOLD,
    Expr,
    Value,
    all_of,
    any_of,
    as_expr,
    boolean,
    changes,
    count,
    otherwise,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from ..cache.snapshot import SnapshotPod
from ..cycles.failure import FailedAttempt
from ..framework.filters import Filters
from ..framework.placement import Placement
from ..framework.status import Phase
from ..preemption.async_preemption import AsyncPhase, AsyncPreemption
from ..preemption.evaluator import Preemption
from .entity_cycle import EntityCycle
from .pod_group_cycle import GroupStage, GroupStatus, Outcome, number_of


class GroupsPreempt(EntityCycle):
    """`emptied[p]` is the node of which the snapshot has lost the pod, as a potential victim, and `ending[p]` whether it terminates. `again`: the members are tried without these; `fitted[m]`: it had a place in the first trial."""

    async_preemption: GroupGoroutines
    preemption: Preemption
    filters: Filters

    emptied = per(Pod, ref(Node))
    ending = per(Pod, boolean())
    fitted = per(Member, boolean())
    again = boolean()

    phrases = UNTOLD

    def clear(self) -> None:
        super().clear()
        self.again = False
        for pod in self.universe[Pod]:
            self.emptied[pod] = None
            self.ending[pod] = False
        for m in self.universe[Member]:
            self.fitted[m] = False

    def weaker(self, group: PodGroup) -> list[Pod]:
        """The pods of a priority below the group's, which is that of its members."""
        members = self.pod_groups.members(group)
        least = min((number_of(m.pod) for m in members), default=0)
        return [pod for pod in self.universe[Pod] if pod.group != group.name and number_of(pod) < least]

    def preempts(self, pod: Pod) -> Expr:
        member = self.member(pod)
        if member is None or self.leader(member.group) is not pod:
            return as_expr(False)
        return (self.group == member.group) & self.again

    def _note_quorum(self, members: list[Member]) -> None:
        with when(~as_expr(self.again)):
            super()._note_quorum(members)

    def _note_rejection(self, member: Member) -> None:
        """The members come back with what the first trial said."""
        with when(~as_expr(self.again)):
            super()._note_rejection(member)

    def _submit(self, group: PodGroup) -> None:
        """A trial is over: after the first one that failed preemption is asked; after the second its victims are found, or none."""
        if not self.weaker(group):
            super()._submit(group)
            return
        over = self.stage != GroupStage.SUBMIT
        again, failed = as_expr(self.again), self.status == GroupStatus.UNSCHEDULABLE
        with when(over & ~again & failed & ~as_expr(self.unread)):
            self.stage = GroupStage.PREEMPT
            self.scheduler.phase = Phase.POD_GROUP
        with otherwise(over & again & (self.status == GroupStatus.SCHEDULABLE)):
            self.stage = GroupStage.REPRIEVE
            self.scheduler.phase = Phase.POD_GROUP
        with otherwise(over & again):
            self._conclude(group, waits=False)
        with otherwise():
            super()._submit(group)

    def _conclude(self, group: PodGroup, *, waits: bool) -> None:
        """What the first trial has said of the members is submitted; where the group waits, each is nominated to its `host`."""
        for m in self.pod_groups.members(group):
            with when(self.held[m]):
                if waits:
                    self.outcome[m] = Outcome.PREEMPTS
                else:
                    self.outcome[m] = select(self.fitted[m], Outcome.FITS, Outcome.FAILS)
                    self.host[m] = None
        if waits:
            self.status = GroupStatus.WAITING
        for pod in self.weaker(group):
            with when(as_expr(self.emptied[pod]).is_some):
                self.snapshot.pod[pod] = SnapshotPod(node=self.emptied[pod], terminating=self.ending[pod])
            self.emptied[pod] = None
            self.ending[pod] = False
        self.again = False
        super()._submit(group)

    @step(actor="scheduler")
    @tells(
        changes("pod_group_cycle.again", after=True),
        "Preemption for the group of {pod} begins: its pods are tried as if no pod of a lower priority were there.",
        changes("pod_group_cycle.status", after=GroupStatus.WAITING),
        "A preemption for the group of {pod} goes on already: its pods stay nominated as they are.",
        "Preemption for the group of {pod} ends at once: it may not preempt, or there is no pod of a lower priority.",
    )
    def preempt(self, pod: Pod) -> None:
        """PodGroupPostFilter: whether the group may preempt, and does not already; the potential victims leave the snapshot, and the trial begins again."""
        member = self.member(pod)
        if member is None or not self.weaker(member.group):
            require(False)
            return
        group = self._at(GroupStage.PREEMPT, pod).group
        victims = {q: self._on_listed(q) for q in self.weaker(group)}
        may = as_expr(all(m.pod.preempts for m in self.pod_groups.members(group)))
        for m in self.pod_groups.members(group):
            self.fitted[m] = self.held[m] & (self.outcome[m] == Outcome.FITS)
        with when(self.may_go_on(may) & self._goes_on(group)):
            for m in self.pod_groups.members(group):
                with when(self.held[m]):
                    self.host[m] = self.copy_of[m].nominated
                    self.withdraws[m] = as_expr(self.copy_of[m].nominated).is_none
            self._conclude(group, waits=True)
        with otherwise(may & any_of(victims.values())):
            for q, here in victims.items():
                with when(here):
                    self.emptied[q] = self.snapshot.pod[q].node
                    self.ending[q] = self.snapshot.pod[q].terminating
                    self.snapshot.pod[q] = SnapshotPod()
            for m in self.pod_groups.members(group):
                with when(self.fitted[m]):
                    self.snapshot.pod[m.pod].node = None
                self.outcome[m] = Outcome.NONE
                self.host[m] = None
            self.again = True
            self._start_trial(group)
        with otherwise():
            self._conclude(group, waits=False)

    def may_go_on(self, may: Expr) -> Expr:
        """Whether the look for victims that terminate comes before that at preemptionPolicy, or `may`, what the latter says."""
        return as_expr(True)

    def _on_listed(self, pod: Pod) -> Expr:
        return any_of(self.snapshot.listed[n] & self.snapshot.on(pod, n) for n in self.universe[Node])

    def _goes_on(self, group: PodGroup) -> Expr:
        """isOngoingPreemption: on a node to which the object of a member is nominated, a pod of a lower priority terminates."""
        return any_of(
            self.held[m]
            & (as_expr(self.copy_of[m].nominated) == n)
            & self.snapshot.listed[n]
            & any_of(
                self.snapshot.on(q, n) & self.preemption.ends_by_preemption(q) for q in self.weaker(group)
            )
            for m in self.pod_groups.members(group)
            for n in self.universe[Node]
        )

    # --- who has to go ---------------------------------------------------------------------------------------

    def leader(self, group: PodGroup) -> Pod:
        """The member under whose name the group's goroutine goes."""
        return self.in_order(group)[0].pod

    @step(actor="scheduler")
    @tells(
        changes("async_preemption.phase", after=SOMETHING),
        "Preemption for the group of {pod} has found its victims: a goroutine is to evict them.",
        "Preemption for the group of {pod} has found places for which nobody has to be evicted.",
    )
    def reprieve(self, pod: Pod) -> None:
        """The victims come back, the most important first, unless a member would not pass then; the goroutine starts, and the members are to be nominated where they have a place."""
        member = self.member(pod)
        if member is None or not self.weaker(member.group):
            require(False)
            return
        group = self._at(GroupStage.REPRIEVE, pod).group
        victims = self._victims(group)
        evicted = {q: gone & ~as_expr(self.ending[q]) for q, gone in victims.items()}
        leader = self.leader(group)
        self.async_preemption.aim({m: self._place(m) for m in self.pod_groups.members(group)})
        self.async_preemption.start_for_group(leader, evicted, self.preemption.last_of(leader, evicted))
        for m in self.pod_groups.members(group):
            self.withdraws[m] = False
        self._conclude(group, waits=True)

    def _place(self, member: Member) -> Value:
        return select(self.held[member] & (self.outcome[member] == Outcome.FITS), self.host[member], None)

    def is_cheaper(self, pod: Pod, node: Node, other: Node) -> Expr:
        """CompareVictimSets: fewer of the highest priority in which the survivors of the two nodes differ. Where a member has its place already, nobody survives."""
        member = self.member(pod)
        assert member is not None
        cheaper, alike = as_expr(False), as_expr(True)
        for level in sorted({number_of(q) for q in self.weaker(member.group)}, reverse=True):
            here, there = (self._survivors(member.group, n, level) for n in (node, other))
            cheaper = cheaper | (alike & (here < there))
            alike = alike & (here == there)
        return self.again & cheaper

    def _survivors(self, group: PodGroup, node: Node, level: int) -> Expr:
        taken = any_of(
            (self.outcome[m] == Outcome.FITS) & (self.host[m] == node) for m in self.pod_groups.members(group)
        )
        victims = [q for q in self.weaker(group) if number_of(q) == level]
        return count(~taken & (self.emptied[q] == node) for q in victims)

    def _victims(self, group: PodGroup) -> dict[Pod, Expr]:
        pods, nodes = self.weaker(group), self.universe[Node]
        potential = {q: as_expr(self.emptied[q]).is_some for q in pods}
        ahead = self.preemption.comes_before
        turn = {q: count(potential[r] & ahead(r, q) for r in pods if r is not q) for q in pods}
        kept = {q: as_expr(False) for q in pods}
        for place in range(len(pods)):
            now = {q: potential[q] & (turn[q] == place) for q in pods}
            back = {q: kept[q] | now[q] for q in pods}
            with when(any_of(now.values())):
                rows = {q: {n: back[q] & (self.emptied[q] == n) for n in nodes} for q in pods}
                spared = self._all_fit(group, rows)
            kept = {q: select(spared, back[q], kept[q]) for q in pods}
        return {q: potential[q] & ~kept[q] for q in pods}

    def _all_fit(self, group: PodGroup, rows: Mapping[Pod, Mapping[Node, Expr]]) -> Expr:
        """reprieveVictim: whether the members pass, one after the other, each with those before it on their nodes."""
        seen, nodes, passed = self.snapshot.placement(), self.universe[Node], []
        order = self.in_order(group)
        has_place = {m: self.held[m] & (self.outcome[m] == Outcome.FITS) for m in order}
        on: dict[Pod, Mapping[Node, Expr]] = {**seen.on, **rows}
        leaving = {**seen.leaving, **{q: as_expr(self.ending[q]) for q in rows}}
        for m in order:
            on[m.pod] = {n: ~has_place[m] & here for n, here in seen.on[m.pod].items()}
        for m in order:
            placement = Placement(dict(on), seen.live, leaving, shown=seen.shown, held=seen.held)
            for n in nodes:
                here = has_place[m] & (self.host[m] == n)
                with when(here):
                    passes = in_form(
                        self.universe,
                        m.pod,
                        self.copy_of[m].version,
                        lambda form, n=n, placement=placement: placement.ask(  # type: ignore[misc]
                            n, partial(self.filters.fits_with_nominated, form)
                        ),
                    )
                passed.append(~here | passes)
            on[m.pod] = {n: here | (has_place[m] & (self.host[m] == n)) for n, here in on[m.pod].items()}
        return all_of(passed)

    def await_preemption(self, member: Member) -> None:
        """Each member is nominated to the node that it has got; one without keeps what it has, or loses it where its object has none."""
        nominee, withdraws = self.host[member], self.withdraws[member]
        self._fail(member.pod, FailedAttempt(self.scheduler.copy, nominee, withdraws, unschedulable=True))


class GroupGoroutines(AsyncPreemption):
    """The goroutine of a group goes under the name of its first member. `aim_of[m]` is the node that the member is to get, where nominations of a lower priority are withdrawn."""

    pod_groups: PodGroups

    aim_of = per(Member, ref(Node))

    phrases = UNTOLD

    def aim(self, places: Mapping[Member, Value]) -> None:
        """The nodes of the candidate."""
        for m, node in places.items():
            self.aim_of[m] = node

    def end(self, pod: Pod) -> None:
        super().end(pod)
        member = self.pod_groups.member(pod)
        if member is not None:
            self.aim(dict.fromkeys(self.pod_groups.members(member.group)))

    def start_for_group(self, leader: Pod, victims: Mapping[Pod, Value], last: Value) -> None:
        """prepareCandidateAsync of a group."""
        self.start(leader, None, victims, last)

    @step(actor="preemption goroutine", each="pod")
    @tells("A goroutine begins to make room for the group of {pod}.")
    def begin_for_group(self, pod: Pod) -> None:
        """getLowerPriorityNominatedPods, for each of the nodes."""
        member = self.pod_groups.member(pod)
        if member is None:
            require(False)
            return
        self.require_phase(pod, AsyncPhase.BEGIN)
        self.queue.settle()
        for q in self.universe[Pod]:
            due = as_expr(False)
            for node in self.universe[Node]:
                aimed = any_of(self.aim_of[m] == node for m in self.pod_groups.members(member.group))
                withdrawn = self.nominator.is_withdrawn_by(pod, q, node)
                due = due | (aimed & (False if withdrawn is None else withdrawn))
            self.to_clear[pod][q] = due
        self._proceed(pod)
