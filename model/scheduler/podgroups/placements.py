"""Placements of a group (podGroupSchedulingPlacementAlgorithm in algorithm_podgroup.go, topologyaware/topology_placement.go and AssumePlacement of the snapshot, 1.38).

A group with a topology key is tried within one domain after the other, each on the same snapshot; only the nodes of the domain are tried. What was assumed is taken back before the next domain. One of
the domains in which the group can be scheduled is chosen; which one scores best is left open (A-GROUP-KINDS). A domain to which members are nominated is tried first, and taken if the group fits.
"""

from ...environment.objects import Node, Pod, PodGroup
from ...environment.pod_groups import Domain, Member
from ...language import (
    SOMETHING,
    UNTOLD,
    Expr,
    any_of,
    as_expr,
    boolean,
    changes,
    count,
    enum,
    otherwise,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from ..framework.events import Plugin
from ..framework.status import Phase
from .group_preemption import GroupsPreempt
from .pod_group_cycle import GroupStage, GroupStatus, Outcome


class Placements(GroupsPreempt):
    """`domain` is the placement that is assumed in the snapshot, `weighed[d]`: the members were tried in it. What `kept_` says of the members is the result of the best domain so far, or of the first if the group cannot be scheduled in any."""

    domain = ref(Domain)
    weighed = per(Domain, boolean())
    keeps = boolean()
    kept_status = enum(GroupStatus)
    kept_outcome = per(Member, enum(Outcome))
    kept_host = per(Member, ref(Node))
    kept_rejection = per(Member, per(Plugin, boolean()))

    phrases = UNTOLD

    def clear(self) -> None:
        super().clear()
        self._drop()

    def _drop(self) -> None:
        self.domain = None
        self.keeps = False
        self.kept_status = GroupStatus.UNSCHEDULABLE
        for d in self.universe[Domain]:
            self.weighed[d] = False
        for m in self.universe[Member]:
            self.kept_outcome[m] = Outcome.NONE
            self.kept_host[m] = None
            for plugin in self.universe[Plugin]:
                self.kept_rejection[m][plugin] = False

    def reads_claims(self, group: PodGroup) -> bool:
        """A group with scheduling constraints is passed over by PodGroupPostFilter of DynamicResources."""
        return not self.pod_groups.keeps_together(group) and super().reads_claims(group)

    # --- which domains there are ---------------------------------------------------------------------------

    def _stands_in(self, member: Member, domain: Domain) -> Expr:
        return any_of(self.snapshot.on(member.pod, n) for n in self.universe[Node] if domain.has(n))

    def _scheduled(self, group: PodGroup) -> dict[Member, Expr]:
        """ScheduledPods of the group's state: the members that the snapshot had on a node before the trial. Of one that the NodeInfos do not have, the node is not known here (A-GROUP-KINDS)."""
        there = self.universe[Node]
        return {
            m: self.counted[m] & any_of(self.snapshot.on(m.pod, n) for n in there)
            for m in self.pod_groups.members(group)
        }

    def _has_no_domain(self, group: PodGroup) -> Expr:
        """getScheduledPodsTopologyDomain fails: a scheduled member is on a node that is gone or has no such label, or two are in two domains."""
        domains, scheduled = self.pod_groups.domains(group), self._scheduled(group)
        lost = any_of(
            here & ~any_of(self.snapshot.on(m.pod, n) & self.snapshot.live[n] for d in domains for n in self._nodes(d))
            for m, here in scheduled.items()
        )  # fmt: skip
        used = [any_of(here & self._stands_in(m, d) for m, here in scheduled.items()) for d in domains]
        return lost | (count(used) > 1)

    def _nodes(self, domain: Domain) -> list[Node]:
        return [n for n in self.universe[Node] if domain.has(n)]

    def _candidates(self, group: PodGroup) -> dict[Domain, Expr]:
        """GeneratePlacements: the domains with a node; once a member is scheduled, that one's only."""
        scheduled, snapshot = self._scheduled(group), self.snapshot
        return {
            d: any_of(snapshot.listed[n] for n in self._nodes(d))
            & ~any_of(here & ~self._stands_in(m, d) for m, here in scheduled.items())
            for d in self.pod_groups.domains(group)
        }

    def _nominated(self, group: PodGroup) -> dict[Domain, Expr]:
        """nominatedPlacement: the only candidate that has nodes to which objects of members are nominated."""
        members = self.pod_groups.members(group)
        meant = {
            d: here
            & any_of(
                self.held[m] & self.snapshot.listed[n] & (as_expr(self.copy_of[m].nominated) == n)
                for m in members
                for n in self._nodes(d)
            )
            for d, here in self._candidates(group).items()
        }
        return {d: here & (count(meant.values()) == 1) for d, here in meant.items()}

    # --- one after the other ---------------------------------------------------------------------------------

    def _start_trial(self, group: PodGroup) -> None:
        if not self.pod_groups.keeps_together(group):
            super()._start_trial(group)
            return
        for m in self.pod_groups.members(group):
            self.outcome[m] = Outcome.NONE
            self.withdraws[m] = False
        with when(self._has_no_domain(group)):
            self.status = GroupStatus.ERROR
            super()._submit(group)
        with otherwise(any_of(self._candidates(group).values())):
            self.stage = GroupStage.PLACE
            self.scheduler.phase = Phase.POD_GROUP
        with otherwise():
            self.status = GroupStatus.UNSCHEDULABLE
            super()._submit(group)

    @step(actor="scheduler", random=True)
    @tells(
        changes("pod_group_cycle.domain", after=SOMETHING),
        "The pods of the group are tried on the nodes of {after}.",
        "The pods of the group are too few to be tried on the nodes of {domain}.",
    )
    def enter(self, pod: Pod, domain: Domain) -> None:
        """evaluatePlacement: AssumePlacement, and the trial on the nodes that it shows, which knows nothing of earlier ones; of that for preemption nothing is recorded. Which domain is next depends on a map's order."""
        member = self.member(pod)
        if (
            member is None
            or domain.group is not member.group
            or not self.pod_groups.keeps_together(domain.group)
        ):
            require(False)
            return
        group = self._at(GroupStage.PLACE, pod).group
        due = {d: here & ~as_expr(self.weighed[d]) for d, here in self._candidates(group).items()}
        first = {d: here & due[d] for d, here in self._nominated(group).items()}
        require(due[domain] & (first[domain] | ~any_of(first.values())))
        self.snapshot.assume_placement({n: as_expr(domain.has(n)) for n in self.universe[Node]})
        self.domain = domain
        self.status = GroupStatus.UNSCHEDULABLE
        for m in self.pod_groups.members(group):
            self.outcome[m] = Outcome.NONE
            self.host[m] = None
            with when(self.held[m] & ~as_expr(self.again)):
                self.queue.record_rejection(m.pod, self.queue.only())
        self._judge(group)

    def _submit(self, group: PodGroup) -> None:
        """A trial within a domain is over, unless none goes on. An error ends the search."""
        if not self.pod_groups.keeps_together(group):
            super()._submit(group)
            return
        inside = as_expr(self.domain).is_some
        with when(inside & (self.status != GroupStatus.ERROR)):
            self.stage = GroupStage.WEIGH
            self.scheduler.phase = Phase.POD_GROUP
        with otherwise():
            with when(inside):
                self._leave(group)
                self._drop()
            super()._submit(group)

    def _leave(self, group: PodGroup) -> None:
        """ForgetPlacement: the snapshot is as before the trial."""
        self.snapshot.forget_placement()
        for m in self.pod_groups.members(group):
            with when(self.held[m] & (self.outcome[m] == Outcome.FITS)):
                self.snapshot.pod[m.pod].node = None

    @step(actor="scheduler", random=True)
    @tells(
        changes("pod_group_cycle.kept_host"),
        "What was found on these nodes is the best so far.",
        changes("pod_group_cycle.stage", after=GroupStage.PLACE),
        "Other nodes are to be tried.",
        "No other nodes are to be tried for the group.",
    )
    def weigh(self, pod: Pod, better: bool) -> None:
        """The result within a domain is kept if it is the first, or the first with which the group can be scheduled; of two such, either may score better. After the last, the best is the result."""
        member = self.member(pod)
        if member is None or not self.pod_groups.keeps_together(member.group):
            require(False)
            return
        group = self._at(GroupStage.WEIGH, pod).group
        now, then = self.status == GroupStatus.SCHEDULABLE, self.kept_status == GroupStatus.SCHEDULABLE
        chosen = ~as_expr(self.keeps) | (now & ~then)
        require((now & then) | (chosen if better else ~chosen))
        self._leave(group)
        if better:
            self._keep(group)
        nominated = any_of(here & (self.domain == d) for d, here in self._nominated(group).items())
        for d in self.pod_groups.domains(group):
            self.weighed[d] = self.weighed[d] | (self.domain == d)
        self.domain = None
        left = any_of(here & ~as_expr(self.weighed[d]) for d, here in self._candidates(group).items())
        with when(left & ~(nominated & now)):
            self.stage = GroupStage.PLACE
        with otherwise():
            self._take_best(group)

    def _keep(self, group: PodGroup) -> None:
        self.keeps = True
        self.kept_status = self.status
        for m in self.pod_groups.members(group):
            self.kept_outcome[m] = self.outcome[m]
            self.kept_host[m] = self.host[m]
            for plugin in self.universe[Plugin]:
                self.kept_rejection[m][plugin] = self.held[m] & self.queue.rejected_by[m.pod][plugin]

    def _take_best(self, group: PodGroup) -> None:
        self.status = self.kept_status
        for m in self.pod_groups.members(group):
            self.outcome[m] = select(self.held[m], self.kept_outcome[m], self.outcome[m])
            self.host[m] = select(self.held[m], self.kept_host[m], self.host[m])
            with when(self.held[m]):
                self.queue.record_rejection(
                    m.pod, {p: self.kept_rejection[m][p] for p in self.universe[Plugin]}
                )
        self._drop()
        super()._submit(group)
